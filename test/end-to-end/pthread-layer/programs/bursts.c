/* Threads that work in short bursts: a part of each inside a lock of their own, a part outside, then a nap; or, with a
 * nap of 0, they pass a token round instead. Prints the time of each part by the threads' own CPU clocks, without the
 * time for reading these and for taking the lock: lines of a name and ns, and the number of naps.
 *
 *   bursts SECONDS THREADS BURST_US NAP_US SEED
 *
 * Lengths vary at random between 0.5 and 1.5 of the requested one; with seed 0 they do not vary. After a nap the caches
 * are cold, and reading a clock takes several times as long as in a loop of its own: a fifth of a burst of 10 us. So
 * the time for a reading is measured where it is made, by another reading right after it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "work.h"

#define THREADS 32
static pthread_mutex_t locks[THREADS];
static pthread_mutex_t token_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t token_passed = PTHREAD_COND_INITIALIZER;
static int token, ended, threads;
static uint64_t end_ns;
static double rounds_in_us, burst_us, nap_us;
static uint64_t lock_ns; /* what taking a free lock and releasing it takes */
static struct { uint64_t inside_ns, outside_ns, all_ns, naps, seed; } own[THREADS];
static volatile double sink;

static uint64_t cpu_ns(clockid_t clock) {
  struct timespec used;
  clock_gettime(clock, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
__attribute__((noinline)) static void inside(long rounds) {
  double x = 1;
  for (long k = 0; k < rounds; k++) x = x * 0.999999 + 0.5;
  sink = x;
}
__attribute__((noinline)) static void outside(long rounds) {
  double x = 1;
  for (long k = 0; k < rounds; k++) x = x * 0.999998 + 0.25;
  sink = x;
}
/* 0.5 to 1.5 */
static double vary(uint64_t *seed) {
  if (!*seed) return 1;
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return 0.5 + (double)(*seed >> 40) / (1 << 24);
}
__attribute__((noinline)) static void nap(uint64_t *seed) {
  struct timespec length = {0, (long)(nap_us * 1000 * vary(seed))};
  nanosleep(&length, NULL);
}
__attribute__((noinline)) static void pass(int who) {
  pthread_mutex_lock(&token_lock);
  token = (who + 1) % threads;
  pthread_cond_broadcast(&token_passed);
  while (token != who && !ended) pthread_cond_wait(&token_passed, &token_lock);
  pthread_mutex_unlock(&token_lock);
}

static uint64_t less(uint64_t ns, uint64_t by_ns) { return ns > by_ns ? ns - by_ns : 0; }
static void measure_clock(void) {
  uint64_t locked = 0, bare = 0, count = 1000;
  for (uint64_t k = 0; k < count; k++) {
    uint64_t a = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_unlock(&locks[0]);
    uint64_t b = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    locked += b - a;
    bare += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - b;
  }
  lock_ns = less(locked / count, bare / count);
}

static void *worker(void *which) {
  int who = (int)(intptr_t)which;
  uint64_t *seed = &own[who].seed;
  while (now_ns() < end_ns) {
    cpu_ns(CLOCK_THREAD_CPUTIME_ID); /* the first one after a nap, which takes longest */
    uint64_t begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_mutex_lock(&locks[who]);
    inside((long)(burst_us / 2 * rounds_in_us * vary(seed)));
    pthread_mutex_unlock(&locks[who]);
    uint64_t middle = cpu_ns(CLOCK_THREAD_CPUTIME_ID), second = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    outside((long)(burst_us / 2 * rounds_in_us * vary(seed)));
    uint64_t end = cpu_ns(CLOCK_THREAD_CPUTIME_ID), after = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    own[who].inside_ns += less(middle - begin, lock_ns + (second - middle));
    own[who].outside_ns += less(end - second, after - end);
    if (nap_us > 0) {
      nap(seed);
      own[who].naps++;
    } else if (threads > 1)
      pass(who);
  }
  pthread_mutex_lock(&token_lock);
  ended = 1;
  pthread_cond_broadcast(&token_passed);
  pthread_mutex_unlock(&token_lock);
  own[who].all_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t made[THREADS];
  uint64_t loaded_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID); /* before the recording began */
  if (count != 6) return 2;
  double seconds = atof(arguments[1]);
  threads = atoi(arguments[2]);
  burst_us = atof(arguments[3]);
  nap_us = atof(arguments[4]);
  uint64_t seed = strtoull(arguments[5], NULL, 10);
  if (threads < 1 || threads > THREADS) return 2;
  double best = 1e18; /* rounds of work in a microsecond of processor time */
  for (int k = 0; k < 5; k++) {
    uint64_t begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    outside(100000);
    double took = (double)(cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
    if (took < best) best = took;
  }
  rounds_in_us = 100000 / best * 1000;
  for (int k = 0; k < threads; k++) pthread_mutex_init(&locks[k], NULL);
  measure_clock();
  end_ns = now_ns() + (uint64_t)(seconds * 1e9);
  for (int k = 0; k < threads; k++) {
    own[k].seed = seed ? seed * 1000 + (uint64_t)k + 1 : 0;
    pthread_create(&made[k], NULL, worker, (void *)(intptr_t)k);
  }
  uint64_t inside_ns = 0, outside_ns = 0, all_ns = 0, naps = 0;
  for (int k = 0; k < threads; k++) {
    pthread_join(made[k], NULL);
    inside_ns += own[k].inside_ns;
    outside_ns += own[k].outside_ns;
    all_ns += own[k].all_ns;
    naps += own[k].naps;
  }
  printf("inside %llu\noutside %llu\nworkers %llu\nprocess %llu\nnaps %llu\n", (unsigned long long)inside_ns,
         (unsigned long long)outside_ns, (unsigned long long)all_ns,
         (unsigned long long)(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - loaded_ns), (unsigned long long)naps);
  return 0;
}
