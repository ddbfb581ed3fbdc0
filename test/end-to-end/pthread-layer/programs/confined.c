/* Two threads that work for 300 ms of processor time each, and are confined to CPUs by their affinity: both to the same
 * one ("one"), each to one of its own ("own"), or not ("free"). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "work.h"

static int first = -1, second = -1; /* CPUs that the program may use */

__attribute__((noinline)) static void *transform(void *cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (cpu) CPU_SET(*(int *)cpu, &mask);
  if (cpu && pthread_setaffinity_np(pthread_self(), sizeof mask, &mask)) return NULL;
  work_own_us(300000);
  return cpu;
}

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "free";
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask)) return 1;
  for (int cpu = 0; cpu < CPU_SETSIZE && second < 0; cpu++)
    if (CPU_ISSET(cpu, &mask)) *(first < 0 ? &first : &second) = cpu;
  int *of[2] = {&first, strcmp(how, "one") ? &second : &first};
  pthread_t threads[2];
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, transform, strcmp(how, "free") ? of[k] : NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
