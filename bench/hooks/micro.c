/* Cost of hooks: calls of small procedures, with whatever hooks this file is compiled with.
 *
 * Owns:    nothing. Prints ns for each call, the median of batches: leaf (a loop over an empty procedure), fib (immediate
 *          recursion), tree (three procedures that call each other). Run by run.sh.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_HOOK __attribute__((no_instrument_function))
#define NO_INLINE __attribute__((noinline))
#define BATCHES 15

static volatile uint64_t sink;

NO_INLINE static void leaf(void) { __asm__ volatile("" ::: "memory"); }
NO_INLINE static uint64_t fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
NO_INLINE static uint64_t tree_b(unsigned n);
NO_INLINE static uint64_t tree_c(unsigned n);
NO_INLINE static uint64_t tree_a(unsigned n) { return n ? tree_b(n - 1) + tree_c(n - 1) : 1; }
NO_INLINE static uint64_t tree_b(unsigned n) { return n ? tree_c(n - 1) + tree_a(n - 1) : 1; }
NO_INLINE static uint64_t tree_c(unsigned n) { return n ? tree_a(n - 1) + tree_b(n - 1) : 1; }

NO_HOOK NO_INLINE static uint64_t run_leaf(unsigned n) {
  for (unsigned k = 0; k < n; k++) leaf();
  return n;
}
NO_HOOK NO_INLINE static uint64_t run_fib(unsigned n) {
  sink += fib(n);
  uint64_t a = 1, b = 1; /* calls of fib(n) */
  for (unsigned k = 2; k <= n; k++) {
    uint64_t next = a + b + 1;
    a = b, b = next;
  }
  return b;
}
NO_HOOK NO_INLINE static uint64_t run_tree(unsigned n) {
  sink += tree_a(n);
  return (UINT64_C(2) << n) - 1;
}

NO_HOOK static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
NO_HOOK static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
NO_HOOK static double median(uint64_t (*run)(unsigned), unsigned n) {
  double ns[BATCHES];
  for (int k = 0; k < BATCHES; k++) {
    double begin = now_ns();
    uint64_t calls = run(n);
    ns[k] = (now_ns() - begin) / (double)calls;
  }
  qsort(ns, BATCHES, sizeof *ns, ascending);
  return ns[BATCHES / 2];
}

/* With an argument: one round of that body, for counting instructions. */
NO_HOOK int main(int count, char **arguments) {
  if (count > 1) {
    uint64_t calls = !strcmp(arguments[1], "leaf") ? run_leaf(1000000) : !strcmp(arguments[1], "fib") ? run_fib(24) : run_tree(18);
    printf("%lu\n", (unsigned long)calls);
    return 0;
  }
  median(run_leaf, 1000000);
  printf("%.3f %.3f %.3f\n", median(run_leaf, 5000000), median(run_fib, 27), median(run_tree, 20));
  return 0;
}
