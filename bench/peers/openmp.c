/* OpenMP tasks: built by gcc with libgomp and by clang with its own library. */
#include "tasks.h"

__attribute__((noinline)) static void empty(void) { __asm__ volatile(""); }
static double spawn(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
#pragma omp task
    empty();
#pragma omp taskwait
  }
  return now_ns() - begin;
}
static double spawn_batch(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k += 1000) {
    for (int i = 0; i < 1000; i++) {
#pragma omp task
      empty();
    }
#pragma omp taskwait
  }
  return now_ns() - begin;
}
static long fib_call(long n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fib_call(n - 1);
  b = fib_call(n - 2);
#pragma omp taskwait
  return a + b;
}
static double fib(long n) {
  double begin = now_ns();
  long value = fib_call(n);
  double took = now_ns() - begin;
  must(value == serial_fib(n), "fib is wrong");
  return took;
}

int main(int count, char **arguments) {
  must(count >= 3, "usage: PROGRAM CASE PROCESSORS");
  int processors = atoi(arguments[2]), status = 1;
#pragma omp parallel num_threads(processors)
#pragma omp single
  status = run_tasks(arguments[1], processors);
  return status;
}
