/* Many mutexes of few places, taken by several threads at once: each protects a counter, some are contended, some are
 * created and destroyed all the time, and more of them are held at once than are shown. Checks all counts at the end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <quartz/spin.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define MUTEXES 20000
#define FOUGHT  4 /* taken in every 8th turn */
#define TURNS   20000
#define HELD    40 /* at once */

static struct {
  pthread_mutex_t mutex;
  long count;
} * all;
static int arrived;

static void take(unsigned which, int try) {
  if (!try)
    pthread_mutex_lock(&all[which].mutex);
  else
    while (pthread_mutex_trylock(&all[which].mutex)) sched_yield();
  all[which].count++;
  pthread_mutex_unlock(&all[which].mutex);
}

static void nest(void) {
  pthread_mutex_t own[HELD];
  for (int k = 0; k < HELD; k++) pthread_mutex_init(&own[k], NULL);
  for (int k = 0; k < HELD; k++) pthread_mutex_lock(&own[k]);
  for (int k = 0; k < HELD; k++) pthread_mutex_unlock(&own[k * 7 % HELD]);
  for (int k = 0; k < HELD; k++) pthread_mutex_destroy(&own[k]);
}

static void *work(void *seed) {
  unsigned random = (unsigned)(size_t)seed * 2654435761u + 1;
  __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
  QZ_SPIN_BEGIN(&arrived);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < THREADS) sched_yield();
  QZ_SPIN_END(&arrived);
  for (int turn = 0; turn < TURNS; turn++) {
    random = random * 1664525 + 1013904223;
    take(turn % 8 ? (random >> 8) % MUTEXES : random >> 8 & (FOUGHT - 1), turn % 3 == 0);
    if (turn % 500 == 0) nest();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  long right = 0;
  all = calloc(MUTEXES, sizeof *all);
  if (!all) return 1;
  for (int k = 0; k < MUTEXES; k++) pthread_mutex_init(&all[k].mutex, NULL);
  for (size_t k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, work, (void *)k);
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < MUTEXES; k++) right += all[k].count;
  for (int k = 0; k < MUTEXES; k++) pthread_mutex_destroy(&all[k].mutex);
  free(all);
  printf("%ld right\n", right);
  return right != THREADS * TURNS;
}
