/* Counted work: chains of dependent multiplications. Ratios of units are known, however long a unit takes. Used by the
 * programs of this folder; never instrumented itself. */
#ifndef TEST_UNITS_H
#define TEST_UNITS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Multiplications in a unit: 0.1 ms or more. While a recording begins, page faults and interrupts add up to a
 * millisecond to the first strands of the program, on some virtual machines. */
#ifndef ROUND
#define ROUND UINT64_C(200000)
#endif

#if defined(__clang__)
#define PROCEDURE __attribute__((noinline))
#else
#define PROCEDURE __attribute__((noipa))
#endif

static volatile uint64_t units_sink;
static inline __attribute__((always_inline, no_instrument_function)) void units(uint64_t count) {
  uint64_t x = count | 1;
  for (uint64_t k = 0; k < count * ROUND; k++) {
    x = x * UINT64_C(6364136223846793005) + 1;
    __asm__ volatile("" : "+r"(x));
  }
  units_sink = x;
}

/* Executes them, and returns the processor time that they took, in ns: a CPU may take twice as long for the same unit
 * from one moment to the next, when another one shares its core. */
static inline __attribute__((always_inline, no_instrument_function)) uint64_t units_ns(uint64_t count) {
  struct timespec begun, ended;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
  units(count);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
  return (uint64_t)((ended.tv_sec - begun.tv_sec) * 1000000000 + (ended.tv_nsec - begun.tv_nsec));
}

#ifndef UNITS_ALONE
/* A procedure that executes that many. */
#define WORK(name, count) \
  PROCEDURE static void name(void) { units(count); }

/* The same, and prints how long that took by the clock, and its processor time, in ns. */
static inline __attribute__((always_inline, no_instrument_function)) uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
#define TIMED_WORK(name, count)                                                                         \
  PROCEDURE static void name(void) {                                                                    \
    uint64_t begun = clock_ns(), cpu_ns = units_ns(count);                                              \
    printf(#name " %llu %llu\n", (unsigned long long)(clock_ns() - begun), (unsigned long long)cpu_ns); \
  }

TIMED_WORK(before, 600)
TIMED_WORK(shorter, 200)
TIMED_WORK(longer, 900)
TIMED_WORK(after, 500)
WORK(produce, 5)
WORK(consume, 15)
WORK(locked, 12)
WORK(outside, 3)
WORK(late, 20)
WORK(early, 4)
WORK(ping, 10)
WORK(pong, 10)
WORK(pass_on, 1)
#endif

#endif
