/* Two threads and a barrier, 40 rounds: one works 10 ms in each, the other 1 ms. */
#include <pthread.h>
#include "work.h"

static pthread_barrier_t end_of_phase;

static void *quick(void *unused) {
  for (int k = 0; k < 40; k++) {
    work_us(1000);
    pthread_barrier_wait(&end_of_phase);
  }
  return NULL;
}
static void *slow(void *unused) {
  for (int k = 0; k < 40; k++) {
    work_us(10000);
    pthread_barrier_wait(&end_of_phase);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_barrier_init(&end_of_phase, NULL, 2);
  pthread_create(&threads[0], NULL, quick, NULL);
  pthread_create(&threads[1], NULL, slow, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  pthread_barrier_destroy(&end_of_phase);
  return 0;
}
