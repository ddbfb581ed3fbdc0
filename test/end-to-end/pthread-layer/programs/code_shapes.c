/* Loops whose form optimization changes: vectorized, unrolled, unswitched. In each pair, one loop has three times the
 * iterations of the other, with the same work. With LIBRARY defined there is no main, with PROGRAM nothing else. */
#include <pthread.h>

#define COUNT 1024
#define TURNS 15000
#define TIMES 8 /* how often vectorized loops are called in each iteration, because they are that much faster */

double shapes(long turns);

#ifndef PROGRAM
static double numbers[3 * COUNT], sums[4];

__attribute__((noinline)) static void vectorized(double *a, long count) {
  for (long i = 0; i < count; i++) a[i] = a[i] * 0.5 + 1;     // vectorized one
  for (long i = 0; i < 3 * count; i++) a[i] = a[i] * 0.5 + 2; // vectorized three
}

__attribute__((noinline)) static void unswitched(double *a, long count, int halves) {
  for (long i = 0; i < count; i++) // unswitched one
    if (halves)
      a[i] *= 0.5;
    else
      a[i] += 1;
  for (long i = 0; i < 3 * count; i++) // unswitched three
    if (halves)
      a[i] *= 0.5;
    else
      a[i] += 1;
}

__attribute__((noinline)) static void unrolled(double *sum, const double *a, long count) {
  double s = *sum;
#pragma GCC unroll 4
  for (long i = 0; i < count; i++) s = s * 0.5 + a[i]; // unrolled one
#pragma GCC unroll 4
  for (long i = 0; i < 3 * count; i++) s = s * 0.5 + a[i]; // unrolled three
  *sum = s;
}

double shapes(long turns) {
  for (long k = 0; k < turns; k++) {
    for (int time = 0; time < TIMES; time++) {
      vectorized(numbers, COUNT);
      unswitched(numbers, COUNT, k % 2 == 0);
    }
    unrolled(sums, numbers, COUNT);
  }
  return sums[0];
}
#endif

#ifndef LIBRARY
static void *run(void *result) {
  *(double *)result = shapes(TURNS);
  return NULL;
}

int main(void) {
  double result = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &result) || pthread_join(thread, NULL)) return 1;
  return result == 12345;
}
#endif
