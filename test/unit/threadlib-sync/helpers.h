/* What the tests of synchronization objects share: checks, times, threads that must start and end. */
#ifndef SYNC_HELPERS_H
#define SYNC_HELPERS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <quartz/quartz.h>
#include "test/support/check.h"

/* A time on a clock, `ms` from now (may be negative). */
static inline struct timespec from_now(int clock, long ms) {
  struct timespec time;
  clock_gettime((clockid_t)clock, &time);
  int64_t ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + (int64_t)ms * 1000000;
  return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static inline int64_t clock_ns(int clock) {
  struct timespec time;
  clock_gettime((clockid_t)clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline qz_thread_t start(const char *name, void *(*function)(void *), void *argument) {
  qz_thread_t thread;
  CHECK_IS(qz_create(&thread, name, function, argument), 0);
  return thread;
}

static inline void *finish(qz_thread_t thread) {
  void *result;
  CHECK_IS(qz_join(thread, &result), 0);
  return result;
}

static const struct timespec BAD_TIME = {.tv_sec = 1, .tv_nsec = 1000000000};

#endif
