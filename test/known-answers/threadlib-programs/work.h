/* Work of a known length, for programs with a known answer.
 *
 * Owns:    sleep-work and spin-work, and the macros that keep a procedure a procedure.
 * Used by: test/known-answers/threadlib-programs only; header only, and never instrumented itself.
 *
 * Sleep-work is a system call outside a declared blocking region: its processor counts as useful all the while
 * (docs/reference/metrics.md, section 1), though it needs no CPU. So a program may have more processors than the
 * machine has CPUs, and its answer doesn't depend on how fast they are.
 */
#ifndef TEST_WORK_H
#define TEST_WORK_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK_INLINE static inline __attribute__((always_inline, no_instrument_function, unused))

/* A procedure that the compiler neither inlines nor clones, so that it is reported under its own name. */
#if defined(__clang__)
#define PROCEDURE __attribute__((noinline))
#else
#define PROCEDURE __attribute__((noipa))
#endif

#define MS UINT64_C(1000000) /* ns */

WORK_INLINE uint64_t work_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Busy for the processor, idle for the CPU, until an instant of CLOCK_MONOTONIC. */
WORK_INLINE void work_sleep_until(uint64_t end_ns) {
  struct timespec end = {(time_t)(end_ns / UINT64_C(1000000000)), (long)(end_ns % UINT64_C(1000000000))};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {}
}

/* Busy for the processor, idle for the CPU. */
WORK_INLINE void work_sleep(uint64_t ns) { work_sleep_until(work_clock_ns() + ns); }

/* Busy for both: ends when `ns` of elapsed time are over. */
WORK_INLINE void work_spin(uint64_t ns) {
  uint64_t end = work_clock_ns() + ns;
  while (work_clock_ns() < end) {}
}

/* Ends the program with one line where a call that must not fail has failed. */
#define MUST(call)                                                                     \
  do {                                                                                 \
    int must_error = (call);                                                           \
    if (must_error) {                                                                  \
      fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, must_error); \
      exit(99);                                                                        \
    }                                                                                  \
  } while (0)

#endif
