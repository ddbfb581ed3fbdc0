/* Threads to which a sampler attaches while they run: two compute, and now and then take a lock in a procedure of its
 * own. Prints "ready" once they run; ends by a signal, or after two minutes. */
#include <pthread.h>
#include <stdio.h>
#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long count;

__attribute__((noinline)) static void compute(void) { work_us(20); }
__attribute__((noinline)) static void take(void) {
  pthread_mutex_lock(&lock);
  count++;
  work_us(5);
  pthread_mutex_unlock(&lock);
}
static void *work(void *end) {
  while (now_ns() < *(const uint64_t *)end) {
    compute();
    take();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  uint64_t end = now_ns() + UINT64_C(120000000000);
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, work, &end);
  work_us(1000);
  puts("ready");
  fflush(stdout);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
