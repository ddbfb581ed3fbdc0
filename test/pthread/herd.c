/* Four threads and a barrier, 150 rounds: each works for 0.5 ms of processor time in a round. On one CPU who arrives last wakes the
 * three others, which then run one after the other: 4, 3, 2, 1 are runnable, 2.5 on average. */
#include <pthread.h>
#include "work.h"

static pthread_barrier_t end_of_round;

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void *member(void *unused) {
  for (int k = 0; k < 150; k++) {
    for (uint64_t end = cpu_ns() + 500000; cpu_ns() < end;) continue;
    pthread_barrier_wait(&end_of_round);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&end_of_round, NULL, 4);
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, member, NULL);
  for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
  pthread_barrier_destroy(&end_of_round);
  return 0;
}
