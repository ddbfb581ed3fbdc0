/* Calls of small procedures, with whatever hooks this file is compiled with: leaf (a loop over an empty procedure), fib
 * (immediate recursion), tree (three procedures that call each other). Prints ns for each call: the median of five
 * batches of 10 ms of CPU time; and how many calls there were in all. */
#include "bench/peers/measure.h"

#define NO_HOOK   __attribute__((no_instrument_function))
#define NO_INLINE __attribute__((noinline))

static volatile uint64_t sink;

NO_INLINE static void leaf(void) { __asm__ volatile("" ::: "memory"); }
NO_INLINE static uint64_t fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
/* Results differ, or the compiler would make one procedure of the three. */
NO_INLINE static uint64_t tree_b(unsigned n);
NO_INLINE static uint64_t tree_c(unsigned n);
NO_INLINE static uint64_t tree_a(unsigned n) { return n ? tree_b(n - 1) + tree_c(n - 1) : 1; }
NO_INLINE static uint64_t tree_b(unsigned n) { return n ? tree_c(n - 1) + tree_a(n - 1) : 2; }
NO_INLINE static uint64_t tree_c(unsigned n) { return n ? tree_a(n - 1) + tree_b(n - 1) : 3; }

enum { FIB = 16, FIB_CALLS = 3193, TREE = 11, TREE_CALLS = 4095 };
NO_HOOK static void leaves(void) {
  for (unsigned k = 0; k < 4096; k++) leaf();
}
NO_HOOK static void fibs(void) { sink += fib(FIB); }
NO_HOOK static void trees(void) { sink += tree_a(TREE); }

NO_HOOK static void each(const char *name, const char *count, void (*run)(void), double calls) {
  enum { BATCHES = 5, BATCH_NS = 10000000 };
  double ns[BATCHES + 1], all = 0;
  for (int k = 0; k <= BATCHES; k++) { /* the first does not count */
    double begin = now_ns(), now = begin, done = 0;
    for (; now - begin < BATCH_NS; now = now_ns()) {
      run();
      done += calls;
    }
    all += done;
    ns[k] = (now - begin) / done;
  }
  print_number(count, all);
  qsort(ns + 1, BATCHES, sizeof *ns, measure_ascending);
  print_number(name, ns[1 + BATCHES / 2]);
}

NO_HOOK int main(void) {
  measure_processors(1);
  each("leaf", "leaf_calls", leaves, 4096);
  each("fib", "fib_calls", fibs, FIB_CALLS);
  each("tree", "tree_calls", trees, TREE_CALLS);
  return 0;
}
