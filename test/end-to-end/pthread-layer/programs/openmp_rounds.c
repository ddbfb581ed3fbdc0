/* Parallel regions of all kinds, a known number of each: two bodies by turns, with data that stand elsewhere each time;
 * with a barrier; one in another one; and begun by another thread. Ends with 1 if a thread's part was lost. Prints the
 * regions, and the barriers that those passed who began the region, as recording counts them. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define TURNS    1000
#define BARRIERS 500
#define NESTED   100
#define OTHERS   300

static atomic_long parts;

__attribute__((noinline)) static void turn(long *add, int deeper) {
  if (deeper) {
    turn(add, 0);
    return;
  }
  long one = add[0];
#pragma omp parallel num_threads(2) shared(one)
  atomic_fetch_add(&parts, one);
#pragma omp parallel num_threads(2) shared(one)
  atomic_fetch_add(&parts, 2 * one);
}

static void *other(void *unused) {
  for (int k = 0; k < OTHERS; k++) {
#pragma omp parallel num_threads(2)
    atomic_fetch_add(&parts, 1);
  }
  return unused;
}

int main(void) {
  long one = 1;
  omp_set_max_active_levels(2);
  for (int k = 0; k < TURNS; k++) turn(&one, k & 1);
  for (int k = 0; k < BARRIERS; k++) {
#pragma omp parallel num_threads(2)
    {
      atomic_fetch_add(&parts, 1);
#pragma omp barrier
      atomic_fetch_add(&parts, 1);
    }
  }
  for (int k = 0; k < NESTED; k++) {
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
      atomic_fetch_add(&parts, 1);
    }
  }
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);
  printf("%d\n", 2 * TURNS + 2 * BARRIERS + 3 * NESTED + OTHERS);
  return parts != 6 * TURNS + 4 * BARRIERS + 4 * NESTED + 2 * OTHERS;
}
