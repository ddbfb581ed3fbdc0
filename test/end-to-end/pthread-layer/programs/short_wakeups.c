/* Threads that work all the time, twice as many as there are CPUs, beside threads that need hardly any time: some sleep
 * a millisecond and read a word, over and over; others sleep once and end. These are runnable again and again, but only
 * until they get a CPU. Prints the processor time of both kinds, in us. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define WAKERS 8
static atomic_int stop;
static atomic_ulong working_us, waking_us;

static void add_own_time(atomic_ulong *sum) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  *sum += (unsigned long)used.tv_sec * 1000000 + (unsigned long)used.tv_nsec / 1000;
}
static void *work(void *unused) {
  volatile unsigned sum = 0;
  while (!stop)
    for (unsigned k = 0; k < 1000; k++) sum = sum + k;
  add_own_time(&working_us);
  return unused;
}
static void *wake(void *unused) {
  while (!stop) usleep(1000);
  add_own_time(&waking_us);
  return unused;
}
static void *once(void *unused) {
  usleep(1000);
  add_own_time(&waking_us);
  return unused;
}

int main(void) {
  cpu_set_t cpus;
  pthread_t workers[256], wakers[WAKERS], other;
  sched_getaffinity(0, sizeof cpus, &cpus);
  int count = 2 * CPU_COUNT(&cpus) < 256 ? 2 * CPU_COUNT(&cpus) : 256;
  for (int k = 0; k < count; k++) pthread_create(&workers[k], NULL, work, NULL);
  for (int k = 0; k < WAKERS; k++) pthread_create(&wakers[k], NULL, wake, NULL);
  for (int k = 0; k < 200; k++) {
    pthread_create(&other, NULL, once, NULL);
    pthread_detach(other);
    usleep(2000);
  }
  stop = 1;
  for (int k = 0; k < count; k++) pthread_join(workers[k], NULL);
  for (int k = 0; k < WAKERS; k++) pthread_join(wakers[k], NULL);
  printf("%lu %lu\n", (unsigned long)working_us, (unsigned long)waking_us);
  return 0;
}
