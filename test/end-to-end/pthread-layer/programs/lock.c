/* Four threads that only hold one lock in turn, 100 times for 1 ms each. The lock has no name other than its
 * variable's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "work.h"

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  for (int k = 0; k < 100; k++) {
    pthread_mutex_lock(&cache_lock);
    work_us(1000);
    pthread_mutex_unlock(&cache_lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (int k = 0; k < 4; k++) {
    char name[16];
    pthread_create(&threads[k], NULL, worker, NULL);
    snprintf(name, sizeof name, "worker-%d", k);
    pthread_setname_np(threads[k], name);
  }
  for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
  return 3;
}
