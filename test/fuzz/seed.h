/* Valid inputs to start from: a small session, and the profile made by sampling it. */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include "sampler/snapshot/snapshot.h"
#include "test/support/fake_session.h"

static struct fake seed_fake(void) {
  enum { THREADS = 4 };
  struct fake f = fake_make(3, 2 * THREADS, 6, 8); /* the upper half are the long records of the lower half */
  f.head->short_limit = 7;
  f.head->long_table = f.head->thread_table;
  f.head->thread_table.capacity = f.head->long_table.capacity = THREADS;
  f.head->long_table.offset += THREADS * f.stride;
  fake_thread(&f, 3)->limit = QZ_LIMIT_LONG;
  uint64_t lock = fake_make_object(&f, 1, QZ_KIND_MUTEX, "lock", 0x4000);
  fake_make_object(&f, 2, QZ_KIND_JOIN, NULL, 0x5000);
  for (uint32_t t = 0; t < THREADS; t++) {
    uint32_t at = t == 3 ? THREADS + t : t;
    fake_create(&f, at, t + 1, t ? "worker" : NULL, 0x1000, (int)t - 1);
    fake_push(&f, at, 0x1000);
    fake_push(&f, at, 0x2000 + 0x100 * t);
    fake_push(&f, at, lock);
    for (int k = 0; t == 3 && k < 5; k++) fake_push(&f, at, 0x3000 + 0x100 * k);
  }
  fake_run(&f, 0, QZ_STATE_USEFUL, 0);
  fake_run(&f, 1, QZ_STATE_SPINNING, 1);
  fake_state(&f, 1, QZ_STATE_SPINNING, 1);
  fake_run(&f, 2, QZ_STATE_OVERHEAD, 3);
  fake_state(&f, 2, QZ_STATE_BLOCKED, 1);
  fake_object(&f, 1)->owner = 1;
  fake_object(&f, 1)->queue = 1;
  fake_object(&f, 1)->acquisitions = 5;
  fake_call(&f, 0, 0x1010, 0x2000, 9);
  fake_call(&f, 1, 0x2010, lock, 9);
  return f;
}

__attribute__((unused)) static uint8_t *seed_session(size_t *bytes) {
  struct fake f = seed_fake();
  uint8_t *copy = malloc(f.bytes);
  *bytes = f.bytes;
  if (copy) memcpy(copy, f.base, f.bytes);
  fake_free(&f);
  return copy;
}

__attribute__((unused)) static uint8_t *seed_profile(size_t *bytes) {
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qz_session_view view;
  const char *clause;
  char path[] = "/tmp/quartz-seed-XXXXXX", why[200];
  struct fake f = seed_fake();
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  CHECK(!qz_session_open(&view, f.fd, &clause));
  CHECK(!qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_MIN_BYTES, why, sizeof why));
  CHECK(!qzi_sampler_open(&sampler, &view, &file, 1));
  for (unsigned k = 0; k < 10; k++) {
    CHECK(!qzi_snapshot(&sampler, 1000000 * (k + 1)));
    qzi_threads_visit(&sampler, 100);
    qzi_objects_visit(&sampler, 100, 1);
  }
  qzi_totals_read(&sampler);
  qzi_objects_read(&sampler);
  qzi_calls_read(&sampler);
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0));
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  qz_session_close(&view);
  fake_free(&f);
  fd = open(path, O_RDONLY);
  off_t size = lseek(fd, 0, SEEK_END);
  uint8_t *copy = malloc((size_t)size);
  CHECK(copy && pread(fd, copy, (size_t)size, 0) == (ssize_t)size);
  close(fd);
  unlink(path);
  *bytes = (size_t)size;
  return copy;
}

#endif
