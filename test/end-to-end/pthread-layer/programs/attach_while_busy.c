/* Threads to which a sampler attaches in the middle of their work; none of them calls the layer while the sampler is
 * attached: one computes, one waits for a condition, one sleeps, main joins. Prints "ready" once they do; ends by a
 * signal, or after two minutes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int waits;

static void *computes(void *unused) {
  work_us(120000000);
  return unused;
}
static void *waits_for_work(void *unused) {
  pthread_mutex_lock(&lock);
  waits = 1;
  for (;;) pthread_cond_wait(&never, &lock);
  return unused;
}
static void *sleeps(void *unused) {
  sleep(120);
  return unused;
}

int main(void) {
  pthread_t computing, waiting, sleeping;
  pthread_create(&waiting, NULL, waits_for_work, NULL);
  pthread_setname_np(waiting, "idle-worker");
  pthread_create(&sleeping, NULL, sleeps, NULL);
  pthread_create(&computing, NULL, computes, NULL);
  for (int there = 0; !there; usleep(1000)) {
    pthread_mutex_lock(&lock);
    there = waits;
    pthread_mutex_unlock(&lock);
  }
  puts("ready");
  fflush(stdout);
  pthread_join(computing, NULL);
  return 0;
}
