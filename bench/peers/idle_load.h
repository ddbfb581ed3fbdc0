/* What lies idle while a case is measured, and how deep the threads stand that do it, for the benchmarks of growth:
 *
 *   PROGRAM CASE PROCESSORS [THREADS [OBJECTS [DEPTH]]]
 *
 * THREADS only wait, each with a mutex of its own; OBJECTS were used and are not any more; the measured threads run
 * DEPTH hooked procedures deep. CASE `events` measures one after the other all that there are, and prints each by its
 * name; `busy` computes.
 *
 * Before cases.h a program includes this file; it defines what cases.h asks for but PROCEDURE and END, and
 *
 *   GROWTH_EVENTS                  names of cases
 *   idle_wait()                  adds one to `gathered` and waits for ever
 *   idle_sleeps()                returns when all that have been counted wait
 *   objects_make(count)           makes objects and uses each
 */
#ifndef BENCH_PEERS_IDLE_LOAD_H
#define BENCH_PEERS_IDLE_LOAD_H

#include "nested_calls.h"

static long idle_threads, idle_objects, idle_depth;
static long idle_below; /* how deep threads begin: what a thread that does nothing calls would count as spawning it */

/* Each start routine begins at the bottom of the call path that was asked for. */
#define PROCEDURE(f)                                                                  \
  static void *f##_below(void *);                                                     \
  static void *f(void *argument) { return descend(idle_below, f##_below, argument); } \
  static void *f##_below(void *argument)
#define END return NULL

#include "cases.h"

/* Entry and exit of a hooked procedure. */
static double call_hooked(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) hooked();
  return now_ns() - begin;
}

/* Eight threads that yield, whatever runs next: time for one yield of any of them. */
static double yield_eight(long n) {
  thread_t t[EIGHT];
  yields = n / EIGHT, switches = 0;
  double begin = now_ns();
  for (int k = 0; k < EIGHT; k++) thread_start(&t[k], yielder, (void *)(intptr_t)(k + 1));
  for (int k = 0; k < EIGHT; k++) thread_join(&t[k]);
  return now_ns() - begin;
}

static void *idle_member(void *own_lock) {
  lock_take((lock_t *)own_lock);
  lock_give((lock_t *)own_lock);
  idle_wait();
  return NULL;
}
static void idle_make(void) {
  lock_t *locks = (lock_t *)calloc((size_t)idle_threads + 1, sizeof *locks);
  must(locks != NULL, "no memory");
  for (long k = 0; k < idle_threads; k++) {
    thread_t t;
    lock_init(&locks[k]);
    thread_start(&t, idle_member, &locks[k]);
  }
  /* all of them, and asleep: otherwise some would begin during the measurement */
  while (__atomic_load_n(&gathered, __ATOMIC_SEQ_CST) < idle_threads) thread_yield();
  idle_sleeps();
  objects_make(idle_objects);
}

/* Threads that compute, as many as there are processors: what the sampler has to look at. Prints the sampler's share of
 * a CPU in this time; the start of the recording is not in it. */
PROCEDURE(computes) {
  double *end = (double *)argument;
  while (wall_ns() < *end) hot.counter = hot.counter + 1;
  END;
}
static double sampler_ns(void) {
  clockid_t clock; /* of the process that has started this one */
  must(clock_getcpuclockid(getppid(), &clock) == 0, "no sampler");
  return clock_ns(clock);
}
static int busy(void) {
  static double end;
  thread_t t[256];
  const char *ms = getenv("QUARTZ_BENCH_MS");
  must(processors <= 256, "too many processors");
  double length = (ms ? atof(ms) : 1000) * 1e6, settled = wall_ns() + length;
  end = settled + length;
  for (int k = 1; k < processors; k++) thread_start(&t[k], computes, &end);
  while (wall_ns() < settled) hot.counter = hot.counter + 1;
  double begin = wall_ns(), used = sampler_ns();
  while (wall_ns() < end) hot.counter = hot.counter + 1;
  print_number("percent", 100 * (sampler_ns() - used) / (wall_ns() - begin));
  for (int k = 1; k < processors; k++) thread_join(&t[k]);
  return 0;
}

static int one_event(const char *name) {
  idle_below = strncmp(name, "spawn", 5) ? idle_depth : 0;
  if (!strcmp(name, "hook"))
    measure(call_hooked, 10000, 1);
  else if (!strcmp(name, "yield-eight"))
    measure(yield_eight, 8L * 1000, 8);
  else if (!strcmp(name, "busy"))
    return busy();
  else
    return run_case(name, case_threads);
  return 0;
}
static void *run_events(void *unused) {
  static const char *const events[] = {GROWTH_EVENTS};
  if (strcmp(case_name, "events")) exit(one_event(case_name));
  for (size_t k = 0; k < sizeof events / sizeof *events; k++) {
    measured_name = events[k];
    must(one_event(events[k]) == 0, "no such event");
  }
  return unused;
}

/* The rest of main. The idle threads go on waiting: nobody joins it. */
static int run_beside_idle(int count, char **arguments) {
  idle_threads = count > 3 ? atol(arguments[3]) : 0;
  idle_objects = count > 4 ? atol(arguments[4]) : 0;
  idle_depth = count > 5 ? atol(arguments[5]) : 0;
  idle_make();
  descend(idle_depth, run_events, NULL);
  exit(0);
}
#endif
