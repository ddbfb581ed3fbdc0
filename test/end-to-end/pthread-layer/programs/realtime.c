/* A thread for each CPU that works for 600 ms of processor time, all of them with the real-time priority that is the
 * argument (class SCHED_FIFO), as main has it. They begin after a while, so that the recording is prepared, for which
 * the sampler has no precedence. 77: the program may not have that class. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "work.h"

#define MOST 64

__attribute__((noinline)) static void *transform(void *unused) {
  work_own_us(600000);
  return unused;
}

int main(int count, char **arguments) {
  cpu_set_t mask;
  pthread_t threads[MOST];
  struct sched_param its = {.sched_priority = count > 1 ? atoi(arguments[1]) : 1};
  if (sched_getaffinity(0, sizeof mask, &mask) || sched_setscheduler(0, SCHED_FIFO, &its)) return 77;
  nanosleep(&(struct timespec){0, 300000000}, NULL);
  int cpus = CPU_COUNT(&mask) < MOST ? CPU_COUNT(&mask) : MOST;
  for (int k = 0; k < cpus; k++)
    if (pthread_create(&threads[k], NULL, transform, NULL)) return 1;
  for (int k = 0; k < cpus; k++) pthread_join(threads[k], NULL);
  return 0;
}
