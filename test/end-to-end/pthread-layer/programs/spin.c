/* Two threads that pass a spin lock to each other, 100 times 2 ms each; everything else that they do takes no time. */
#include <pthread.h>
#include "work.h"

static pthread_spinlock_t turn;

static void *worker(void *unused) {
  for (int k = 0; k < 100; k++) {
    pthread_spin_lock(&turn);
    work_us(2000);
    pthread_spin_unlock(&turn);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_spin_init(&turn, PTHREAD_PROCESS_PRIVATE);
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
