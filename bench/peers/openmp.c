/* OpenMP tasks: built by gcc with libgomp and by clang with its own library. */
#include <omp.h>
#include <stdint.h>

/* A part of a range for each thread, as schedule(static) divides it. */
static inline int64_t bound(int64_t begin, int64_t end, int thread, int threads) {
  return begin + (end - begin) * thread / threads;
}
static inline void loop_of(int64_t begin, int64_t end, void (*body)(int64_t, int64_t, void *), void *argument) {
#pragma omp parallel
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    body(bound(begin, end, me, all), bound(begin, end, me + 1, all), argument);
  }
}
static inline void uneven_loop_of(int64_t begin, int64_t end, void (*body)(int64_t, int64_t, void *), void *argument) {
#pragma omp parallel for schedule(guided)
  for (int64_t k = begin; k < end; k++) body(k, k + 1, argument);
}
static inline int64_t sum_of(int64_t begin, int64_t end, int64_t (*body)(int64_t, int64_t, void *), void *argument) {
  int64_t sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    sum += body(bound(begin, end, me, all), bound(begin, end, me + 1, all), argument);
  }
  return sum;
}
#define SCOPE(s) (void)0
#define FORK(s, procedure, argument)     \
  do {                                   \
    void *own_ = argument;               \
    _Pragma("omp task") procedure(own_); \
  } while (0)
#define JOIN(s, procedure)                 _Pragma("omp taskwait")
#define LOOP(begin, end, body, argument)   loop_of(begin, end, body, argument)
#define LOOP_UNEVEN                        uneven_loop_of
#define REDUCE(begin, end, body, argument) sum_of(begin, end, body, argument)
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
  omp_set_num_threads(processors);
  if (!strncmp(arguments[1], "loop", 4) || !strcmp(arguments[1], "reduce")) return run_tasks(arguments[1], processors);
#pragma omp parallel
#pragma omp single
  status = run_tasks(arguments[1], processors);
  return status;
}
