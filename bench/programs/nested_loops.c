/* Threads with nests of loops, as numerical programs have them: nested_loops THREADS ROUNDS. Prints the program's
 * processor time and elapsed time in seconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { SIZE = 96, THREADS_MOST = 64 };
static long rounds;
static volatile double kept;

static void multiply(double *restrict to, const double *a, const double *b) {
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      double sum = 0;
      for (int k = 0; k < SIZE; k++) sum += a[i * SIZE + k] * b[k * SIZE + j];
      to[i * SIZE + j] = sum / SIZE;
    }
}
static void smooth(double *restrict to, const double *from) {
  for (int times = 0; times < 40; times++)
    for (int k = 1; k < SIZE * SIZE - 1; k++) to[k] = (from[k - 1] + to[k] + from[k + 1]) / 3;
}
static void *work(void *unused) {
  double *all = calloc((size_t)3 * SIZE * SIZE, sizeof *all), *a = all, *b = a + SIZE * SIZE, *c = b + SIZE * SIZE;
  if (!all) exit(1);
  for (int k = 0; k < SIZE * SIZE; k++) a[k] = b[k] = k % 7;
  for (long k = 0; k < rounds; k++) {
    multiply(c, a, b);
    smooth(a, c);
  }
  kept = a[SIZE];
  free(all);
  return unused;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 1;
  if (threads < 1 || threads > THREADS_MOST) return 2;
  rounds = count > 2 ? atol(arguments[2]) : 100;
  pthread_t ids[THREADS_MOST];
  double begin = seconds();
  for (int k = 0; k < threads; k++)
    if (pthread_create(&ids[k], NULL, work, NULL)) return 1;
  for (int k = 0; k < threads; k++) pthread_join(ids[k], NULL);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("cpu %.6f\nelapsed %.6f\n",
         (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
         seconds() - begin);
  return 0;
}
