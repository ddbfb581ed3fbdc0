/* A producer that works 10 ms for each of 40 items, and a consumer that waits for them and works 1 ms. */
#include <pthread.h>
#include "work.h"

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consume(void *unused) {
  for (int k = 0; k < 40; k++) {
    pthread_mutex_lock(&queue_lock);
    while (!items) pthread_cond_wait(&filled, &queue_lock);
    items--;
    pthread_mutex_unlock(&queue_lock);
    work_us(1000);
  }
  return NULL;
}

int main(void) {
  pthread_t consumer;
  pthread_create(&consumer, NULL, consume, NULL);
  for (int k = 0; k < 40; k++) {
    work_us(10000);
    pthread_mutex_lock(&queue_lock);
    items++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue_lock);
  }
  pthread_join(consumer, NULL);
  return 0;
}
