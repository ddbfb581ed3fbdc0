/* A publisher for tests: a session whose content the test sets, in a sealed memory file like a real one.
 *
 * Every setter does what abi/session.h demands of a publisher. One thread at a time for each record.
 */
#ifndef TEST_FAKE_SESSION_H
#define TEST_FAKE_SESSION_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi/session.h"
#include "check.h"

struct fake {
  unsigned char *base;
  size_t bytes;
  int fd;
  struct qz_session *head;
  uint32_t limit;
  uint64_t stride;
};

static inline uint64_t fake_up(uint64_t bytes) { return (bytes + 4095) & ~UINT64_C(4095); }

static inline struct fake fake_make(uint32_t processors, uint32_t threads, uint32_t objects, uint32_t limit) {
  struct fake f = {.limit = limit};
  uint32_t call_slots = 1024, strings = 65536;
  f.stride = (sizeof(struct qz_thread) + limit * sizeof(struct qz_entry) + 63) & ~UINT64_C(63);
  uint64_t at[7] = {fake_up(sizeof(struct qz_session))};
  at[1] = at[0] + fake_up(processors * sizeof(struct qz_processor));
  at[2] = at[1] + fake_up(threads * f.stride);
  at[3] = at[2] + fake_up(objects * sizeof(struct qz_object));
  at[4] = at[3] + fake_up((uint64_t)call_slots * processors * sizeof(struct qz_call));
  at[5] = at[4] + fake_up(strings);
  at[6] = at[5] + QZ_MARKS; /* marks: there, and used where a test says so (fake_marks) */
  f.bytes = at[6];
  f.fd = memfd_create("fake-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK(f.fd >= 0 && !ftruncate(f.fd, (off_t)f.bytes));
  CHECK(!fcntl(f.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  f.base = mmap(NULL, f.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
  CHECK(f.base != MAP_FAILED);
  f.head = (struct qz_session *)(void *)f.base;
  *f.head = (struct qz_session){.version = QZ_SESSION_VERSION,
                                .head_bytes = sizeof(struct qz_session),
                                .total_bytes = f.bytes,
                                .publisher = QZ_PUBLISHER_THREADLIB,
                                .pid = (uint32_t)getpid(),
                                .processors = processors,
                                .processor_table = {at[0], sizeof(struct qz_processor), processors, 0},
                                .thread_table = {at[1], f.stride, threads, 0},
                                .object_table = {at[2], sizeof(struct qz_object), objects, 0},
                                .call_table = {at[3], sizeof(struct qz_call), call_slots * processors, 0},
                                .string_table = {at[4], 1, strings, 0},
                                .call_slots = call_slots,
                                .stack_limit = limit,
                                .short_limit = limit,
                                .publishing = 1,
                                .epoch = 1,
                                .string_bytes = 1,
                                .object_high = 1};
  __atomic_store_n(&f.head->magic, QZ_SESSION_MAGIC, __ATOMIC_RELEASE);
  return f;
}
static inline void fake_free(struct fake *f) {
  munmap(f->base, f->bytes);
  close(f->fd);
}

static inline struct qz_processor *fake_processor(struct fake *f, uint32_t p) {
  return (struct qz_processor *)(void *)(f->base + f->head->processor_table.offset) + p;
}
static inline struct qz_thread *fake_thread(struct fake *f, uint32_t t) {
  return (struct qz_thread *)(void *)(f->base + f->head->thread_table.offset + t * f->stride);
}
static inline struct qz_object *fake_object(struct fake *f, uint32_t o) {
  return (struct qz_object *)(void *)(f->base + f->head->object_table.offset) + o;
}
static inline struct qz_entry *fake_entries(struct fake *f, uint32_t t) {
  return (struct qz_entry *)(void *)(f->base + f->head->thread_table.offset + t * f->stride +
                                     offsetof(struct qz_thread, stack));
}

static inline uint32_t fake_name(struct fake *f, const char *name) {
  uint32_t at = f->head->string_bytes;
  strcpy((char *)f->base + f->head->string_table.offset + at, name);
  __atomic_store_n(&f->head->string_bytes, at + (uint32_t)strlen(name) + 1, __ATOMIC_RELEASE);
  return at;
}

/* From now on the session has marks of changes: before a sampler opens it. */
static inline void fake_marks(struct fake *f) {
  f->head->mark_table = (struct qz_table){f->bytes - QZ_MARKS, 1, QZ_MARKS, 0};
}
static inline void fake_mark(struct fake *f, uint32_t t) {
  unsigned char *mark = f->base + f->bytes - QZ_MARKS + qz_mark_at(t);
  __atomic_store_n(mark, (unsigned char)(*mark + 1), __ATOMIC_RELEASE);
}

static inline void fake_run(struct fake *f, uint32_t p, unsigned state, int thread) {
  struct qz_processor *r = fake_processor(f, p);
  __atomic_store_n(&r->now, QZ_NOW(state, thread + 1, (r->now >> 36) + 1), __ATOMIC_RELEASE);
}
static inline void fake_state(struct fake *f, uint32_t t, unsigned state, uint32_t object) {
  __atomic_store_n(&fake_thread(f, t)->state, QZ_STATE_WORD(state, object), __ATOMIC_RELEASE);
}
static inline void fake_create(struct fake *f, uint32_t t, uint64_t serial, const char *name, uint64_t start,
                               int creator) {
  struct qz_thread *r = fake_thread(f, t);
  r->start = start;
  r->name = name ? fake_name(f, name) : 0;
  r->creator = (uint32_t)(creator + 1);
  __atomic_store_n(&r->word, (r->word & ~(QZ_WORD_FLUX | UINT32_MAX)) + QZ_WORD_CHANGE + QZ_WORD_EMPTY,
                   __ATOMIC_RELEASE);
  fake_state(f, t, QZ_STATE_USEFUL, 0);
  __atomic_store_n(&r->serial, serial, __ATOMIC_RELEASE);
  if (f->head->thread_high <= t) __atomic_store_n(&f->head->thread_high, t + 1, __ATOMIC_RELEASE);
}
static inline void fake_push(struct fake *f, uint32_t t, uint64_t key) {
  struct qz_thread *r = fake_thread(f, t);
  __atomic_store_n(&fake_entries(f, t)[QZ_WORD_DEPTH(r->word)].key, key, __ATOMIC_RELAXED);
  __atomic_store_n(&r->word, r->word + QZ_WORD_PUSH, __ATOMIC_RELEASE);
}
static inline void fake_pop(struct fake *f, uint32_t t) {
  struct qz_thread *r = fake_thread(f, t);
  __atomic_store_n(&r->word, r->word + QZ_WORD_POP, __ATOMIC_RELEASE);
}
static inline uint64_t fake_make_object(struct fake *f, uint32_t o, unsigned kind, const char *name, uint64_t site) {
  struct qz_object *r = fake_object(f, o);
  r->name = name ? fake_name(f, name) : 0;
  r->site = site;
  r->address = 0x1000 + o;
  r->instances++;
  __atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE);
  if (f->head->object_high <= o) __atomic_store_n(&f->head->object_high, o + 1, __ATOMIC_RELEASE);
  return QZ_KEY(kind, o);
}
static inline void fake_call(struct fake *f, uint32_t p, uint64_t site, uint64_t key, uint64_t count) {
  struct qz_call *slots = (struct qz_call *)(void *)(f->base + f->head->call_table.offset) + p * f->head->call_slots;
  uint32_t at = (uint32_t)((site ^ key >> 4) & (f->head->call_slots - 1));
  while (slots[at].site && (slots[at].site != site || slots[at].key != key)) at = (at + 1) % f->head->call_slots;
  slots[at].key = key;
  slots[at].count += count;
  __atomic_store_n(&slots[at].site, site, __ATOMIC_RELEASE);
}

#endif
