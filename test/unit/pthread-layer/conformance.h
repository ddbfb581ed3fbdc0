/* What the parts of conformance.c share: lines of results, times. */
#ifndef TEST_CONFORMANCE_H
#define TEST_CONFORMANCE_H

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static inline void say(const char *what, int result) {
  const char *name = result ? strerrorname_np(result) : "0";
  printf("%s: %s (%d)\n", what, name ? name : "?", result);
  fflush(stdout);
}
#define SAY(call)       say(#call, (call))
#define SAY_ERRNO(call) say(#call, (errno = 0, (call)) ? errno : 0)

static inline struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_nsec += ms % 1000 * 1000000;
  at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}

/* conformance_threads.c */
void lives(void);
void cancellation(void);
extern pthread_mutex_t gate;

#endif
