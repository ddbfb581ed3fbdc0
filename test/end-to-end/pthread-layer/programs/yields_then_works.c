/* Two threads more than CPUs: each yields some times, as a barrier does before it blocks, and then works. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "work.h"

#define THREADS 64
#define YIELDS  50

static void *worker(void *unused) {
  for (int k = 0; k < YIELDS; k++) sched_yield();
  work_own_us(200000);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  long count = sysconf(_SC_NPROCESSORS_ONLN) + 2;
  if (count > THREADS) count = THREADS;
  for (long k = 0; k < count; k++) pthread_create(&threads[k], NULL, worker, NULL);
  for (long k = 0; k < count; k++) pthread_join(threads[k], NULL);
  return 0;
}
