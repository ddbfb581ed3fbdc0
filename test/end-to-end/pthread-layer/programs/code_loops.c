/* Loops with counted work: a given number of steps that depend on each other. The test looks for the comments. */
#include <pthread.h>
#include <stdint.h>
#ifdef WITH_PACKAGE
#include <quartz/quartz.h>
#define pthread_t                                     qz_thread_t
#define pthread_create(thread, attr, start, argument) qz_create(thread, NULL, start, argument)
#define pthread_join                                  qz_join
#endif

#define UNIT 40000000L

static inline __attribute__((always_inline)) uint64_t step(uint64_t v) {
  v = v * 6364136223846793005u + 1442695040888963407u;
  __asm__ volatile("" : "+r"(v)); /* one after the other, neither unrolled into sums nor vectorized */
  return v;
}

static inline __attribute__((always_inline)) uint64_t inlined(uint64_t v, long steps) {
  for (long k = 0; k < steps; k++) v = step(v); // in inlined
  return v;
}

__attribute__((noinline)) static uint64_t nest(uint64_t v) {
  for (long i = 0; i < 100; i++) {                         // nest
    for (long j = 0; j < 3 * UNIT / 100; j++) v = step(v); // three
    for (long j = 0; j < UNIT / 100; j++) v = step(v);     // one
  }
  return v;
}

__attribute__((noinline)) static uint64_t calls(uint64_t v) {
  for (long i = 0; i < 50; i++) { // around inlined
    v = inlined(v, 2 * UNIT / 50);
    if (v == 1) v++;
  }
  return v;
}

__attribute__((noinline)) static uint64_t leaf(uint64_t v, long steps) {
  do v = step(v);      // in leaf
  while (--steps > 0); // end of leaf
  return v;
}

__attribute__((noinline)) static uint64_t choose(uint64_t v) {
  for (long i = 0; i < 200; i++) { // choose
    switch (i & 7) {
    case 0: v = leaf(v, UNIT / 200); break;
    case 1: v = leaf(v + 1, UNIT / 200); break;
    case 2: v = leaf(v ^ 5, UNIT / 200); break;
    case 3: v = leaf(v * 3, UNIT / 200); break;
    case 4: v = leaf(v - 9, UNIT / 200); break;
    case 5: v = leaf(v | 1, UNIT / 200); break;
    default: v = leaf(~v, UNIT / 200); break;
    }
  }
  return v;
}

static volatile int turns = 2; /* not known when it is compiled: the loop stays one */

static void *run(void *result) {
  uint64_t v = 1;
  for (int k = 0; k < turns; k++) v = choose(calls(nest(v))); // in run
  *(uint64_t *)result = v;
  return NULL;
}

int main(void) {
  uint64_t result = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &result) || pthread_join(thread, NULL)) return 1; // in main
  return result == 0;
}
