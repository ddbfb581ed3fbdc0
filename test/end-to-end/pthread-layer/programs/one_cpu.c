/* Three threads on one CPU, which work mostly while they hold one lock: who lacks the CPU is seldom the holder, since
 * the others cannot go on without it. Prints the processor time in ns that they used inside of the lock, and in all. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include "work.h"

#define THREADS 3
#define ROUNDS  700

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static uint64_t inside_ns, all_ns;

static void *worker(void *none) {
  (void)none;
  uint64_t inside = 0;
  for (int k = 0; k < ROUNDS; k++) {
    pthread_mutex_lock(&ledger);
    uint64_t begin_ns = own_ns();
    work_own_us(500);
    inside += own_ns() - begin_ns;
    pthread_mutex_unlock(&ledger);
    work_own_us(150);
  }
  __atomic_fetch_add(&inside_ns, inside, __ATOMIC_RELAXED);
  __atomic_fetch_add(&all_ns, own_ns(), __ATOMIC_RELAXED);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)sched_getcpu(), &set);
  if (sched_setaffinity(0, sizeof set, &set)) return 1;
  for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, worker, NULL);
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  printf("%llu %llu\n", (unsigned long long)inside_ns, (unsigned long long)all_ns);
  return 0;
}
