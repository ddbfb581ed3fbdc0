/* With two numbers: that many threads wait for a condition while main works for that many ms. Without: four threads and
 * a barrier, 150 rounds: each works for 0.5 ms of processor time in a round. On one CPU, the last one to arrive wakes
 * the three others, which then run one after the other: 4, 3, 2, 1 are runnable, 2.5 on average. */
#include <pthread.h>
#include <stdlib.h>
#include "work.h"

static pthread_barrier_t end_of_round;

static void *member(void *unused) {
  for (int k = 0; k < 150; k++) {
    work_own_us(500);
    pthread_barrier_wait(&end_of_round);
  }
  return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static int is_over;
static void *waits(void *unused) {
  pthread_mutex_lock(&lock);
  while (!is_over) pthread_cond_wait(&over, &lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}
static int many(int count, long ms) {
  static pthread_t threads[16000];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  int made = 0;
  while (made < count && made < 16000 && !pthread_create(&threads[made], &small, waits, NULL)) made++;
  work_us(1000 * ms);
  pthread_mutex_lock(&lock);
  is_over = 1;
  pthread_cond_broadcast(&over);
  pthread_mutex_unlock(&lock);
  for (int k = 0; k < made; k++) pthread_join(threads[k], NULL);
  return made == count ? 0 : 77;
}

int main(int count, char **arguments) {
  if (count > 2) return many(atoi(arguments[1]), atol(arguments[2]));
  pthread_t threads[4];
  pthread_barrier_init(&end_of_round, NULL, 4);
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, member, NULL);
  for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
  pthread_barrier_destroy(&end_of_round);
  return 0;
}
