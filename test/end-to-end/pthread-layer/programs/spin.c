/* Two threads that pass a spin lock to each other, 100 times (or as the argument says) 2 ms each; everything else that
 * they do takes no time. */
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static pthread_spinlock_t turn;
static int turns = 100;

static void *worker(void *unused) {
  for (int k = 0; k < turns; k++) {
    pthread_spin_lock(&turn);
    work_us(2000);
    pthread_spin_unlock(&turn);
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[2];
  if (count > 1) turns = atoi(arguments[1]);
  pthread_spin_init(&turn, PTHREAD_PROCESS_PRIVATE);
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
