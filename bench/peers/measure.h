/* What every program beside this file shares: its command line, the clock, and how a case is measured.
 *
 *   PROGRAM CASE PROCESSORS [THREADS]
 *
 * Prints lines of "name value": "ns", what one operation takes, and whatever else the case reports. A case is a
 * function that does `n` operations and returns what they took; n grows until that is BATCH_NS, then the median of five
 * such batches counts. QUARTZ_BENCH_MS in the environment sets the length of a batch.
 */
#ifndef BENCH_PEERS_MEASURE_H
#define BENCH_PEERS_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static inline double wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* On one processor, which always has something to run, time is the process's CPU time: what else runs on the machine is
 * not in it. On more it is elapsed time. */
static clockid_t measure_clock = CLOCK_MONOTONIC;
static inline void measure_processors(int processors) {
  measure_clock = processors == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
}
static inline double now_ns(void) { return clock_ns(measure_clock); }

static inline int measure_ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static const char *measured_name = "ns"; /* of what measure() prints */
static inline void print_number(const char *name, double value) {
  printf("%s %.4f\n", name, value);
  fflush(stdout);
}

static inline void measure(double (*run)(long n), long first, long step) {
  enum { BATCHES = 5 };
  const char *ms = getenv("QUARTZ_BENCH_MS");
  double batch_ns = (ms ? atof(ms) : 20) * 1e6, ns[BATCHES];
  long n = first;
  for (double took = run(n); took < batch_ns && n < first * (1L << 30); took = run(n)) {
    double grow = took > 0 ? batch_ns / took * 1.2 : 8;
    long next = (long)((double)n * (grow < 8 ? grow : 8));
    n = next > n ? next / step * step : n;
    if (n < first) n = first;
    if (grow < 1.3) break;
  }
  for (int k = 0; k < BATCHES; k++) ns[k] = run(n) / (double)n;
  qsort(ns, BATCHES, sizeof *ns, measure_ascending);
  print_number(measured_name, ns[BATCHES / 2]);
}

/* Spawns of fib(n), one for each call that splits: fib(n + 1) - 1. */
static inline double fib_spawns(long n) {
  double a = 1, b = 1;
  for (long k = 2; k <= n; k++) {
    double next = a + b;
    a = b, b = next;
  }
  return b - 1;
}

/* `fib` computes fib(n) the parallel way; n grows until it takes long enough. */
static inline void measure_fib(double (*fib)(long n), long first, long most) {
  enum { BATCHES = 5 };
  const char *ms = getenv("QUARTZ_BENCH_MS");
  double batch_ns = (ms ? atof(ms) : 20) * 1e6, ns[BATCHES];
  long n = first;
  while (fib(n) < batch_ns * 0.7 && n < most) n++;
  for (int k = 0; k < BATCHES; k++) ns[k] = fib(n) / fib_spawns(n);
  qsort(ns, BATCHES, sizeof *ns, measure_ascending);
  print_number("ns", ns[BATCHES / 2]);
}

static inline long serial_fib(long n) {
  long a = 0, b = 1;
  for (; n > 0; n--) {
    long next = a + b;
    a = b, b = next;
  }
  return a;
}

/* A wrong answer or a failing call ends the run, with a line that the harness shows. */
static inline void must(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}
#endif
