/* A profile of this very process, whose modules are known: for tests of what the sampler finds out about a program. */
#ifndef TEST_SELF_PROFILE_H
#define TEST_SELF_PROFILE_H

#include "fake_session.h"
#include "sampler/profile/file.h"
#include "sampler/profile/interned_stacks.h"
#include "sampler/profile/modules.h"
#include "sampler/profile/symbolize.h"

struct self_profile {
  char path[64];
  struct fake fake;
  struct qz_session_view view;
  struct qzi_file file;
  struct qzi_interner interner;
};

static inline void self_profile_store_modules(struct self_profile *self) {
  struct qzi_modules *modules = qzi_modules_read(getpid());
  CHECK(modules);
  qzi_modules_store(&self->interner, modules);
  qzi_modules_free(modules);
}

static inline void self_profile_open(struct self_profile *self) {
  const char *clause = NULL;
  char why[256];
  snprintf(self->path, sizeof self->path, "/tmp/quartz-self-%d.quartz", (int)getpid());
  self->fake = fake_make(1, 8, 8, 128);
  CHECK(!qz_session_open(&self->view, self->fake.fd, &clause));
  CHECK(!qzi_file_create(&self->file, self->path, &(struct qzi_replaceable){.any = 1}, 1 << 24, why, sizeof why));
  self->file.head->pid = (uint32_t)getpid();
  CHECK(!qzi_intern_open(&self->interner, &self->file, &self->view));
  self_profile_store_modules(self);
}

static inline void self_profile_close(struct self_profile *self) {
  qzi_symbols_close(&self->interner);
  qzi_intern_close(&self->interner);
  qzi_file_close(&self->file);
  qz_session_close(&self->view);
  fake_free(&self->fake);
  unlink(self->path);
}

#endif
