/* Two threads of which one at a time works, for about a millisecond: each waits for its turn at a condition. */
#include <pthread.h>
#include "work.h"

#define TURNS 400

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static long turn;

static void *worker(void *which) {
  long me = (long)which;
  for (int k = 0; k < TURNS; k++) {
    pthread_mutex_lock(&lock);
    while (turn != me) pthread_cond_wait(&passed, &lock);
    pthread_mutex_unlock(&lock);
    work_own_us(1000);
    pthread_mutex_lock(&lock);
    turn = !me;
    pthread_cond_signal(&passed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (long k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, (void *)k);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
