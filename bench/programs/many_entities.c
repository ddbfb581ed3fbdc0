/* A program with ten thousand entities, for the cost of the live screen: 5,000 procedures, 3,000 mutexes and 2,000
 * threads, all with names of their own. many [SECONDS] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <quartz/quartz.h>

enum { procedures = 5000, locks = 3000, threads = 2000, deepest = 6 };

static qz_mutex mutex[locks];
static double end;

static void call(unsigned seed, unsigned depth);

#define P1(n) \
  static void p##n(unsigned seed, unsigned depth) { call(seed, depth); }
#define P10(n)  P1(n##0) P1(n##1) P1(n##2) P1(n##3) P1(n##4) P1(n##5) P1(n##6) P1(n##7) P1(n##8) P1(n##9)
#define P100(n) P10(n##0) P10(n##1) P10(n##2) P10(n##3) P10(n##4) P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)
#define P1000(n) \
  P100(n##0) P100(n##1) P100(n##2) P100(n##3) P100(n##4) P100(n##5) P100(n##6) P100(n##7) P100(n##8) P100(n##9)
/* For clang-format these calls of macros are declarations. */
/* clang-format off */
P1000(1) P1000(2) P1000(3) P1000(4) P1000(5)
/* clang-format on */

#define N1(n)   p##n,
#define N10(n)  N1(n##0) N1(n##1) N1(n##2) N1(n##3) N1(n##4) N1(n##5) N1(n##6) N1(n##7) N1(n##8) N1(n##9)
#define N100(n) N10(n##0) N10(n##1) N10(n##2) N10(n##3) N10(n##4) N10(n##5) N10(n##6) N10(n##7) N10(n##8) N10(n##9)
#define N1000(n) \
  N100(n##0) N100(n##1) N100(n##2) N100(n##3) N100(n##4) N100(n##5) N100(n##6) N100(n##7) N100(n##8) N100(n##9)
  static void (*const procedure[procedures])(unsigned, unsigned) = {N1000(1) N1000(2) N1000(3) N1000(4) N1000(5)};

static void call(unsigned seed, unsigned depth) {
  seed = seed * 1103515245 + 12345;
  for (volatile int k = 0; k < 10000; k++) continue;
  if (depth < deepest)
    procedure[(seed >> 8) % procedures](seed, depth + 1);
  else {
    qz_mutex *lock = &mutex[(seed >> 8) % locks];
    qz_mutex_lock(lock);
    for (volatile int k = 0; k < 5000; k++) continue;
    qz_mutex_unlock(lock);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run(void *seed) {
  for (unsigned k = (unsigned)(size_t)seed; now() < end; k += threads) {
    procedure[k % procedures](k, 0);
    qz_yield();
  }
  return NULL;
}

int main(int argc, char **argv) {
  static qz_thread_t thread[threads];
  static char name[threads + locks][16];
  end = now() + (argc > 1 ? atof(argv[1]) : 30);
  for (int k = 0; k < locks; k++) {
    snprintf(name[k], sizeof name[k], "lock %d", k);
    qz_mutex_init(&mutex[k], name[k], QZ_ADAPTIVE);
  }
  for (int k = 0; k < threads; k++) {
    snprintf(name[locks + k], sizeof name[k], "thread %d", k);
    if (qz_create(&thread[k], name[locks + k], run, (void *)(size_t)k)) return 1;
  }
  for (int k = 0; k < threads; k++) qz_join(thread[k], NULL);
  return 0;
}
