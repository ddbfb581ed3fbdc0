/* A plain pthread program: 4 workers take jobs from a queue that one mutex and two conditions guard, and put results
 * under a second lock. 20,000 jobs are 80,000 lock operations and 4 million procedure calls, in a fifth of a second of
 * work or so. workers [JOBS] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, ROOM = 64, STEPS = 200 };
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, result_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static uint64_t queue[ROOM], held, taken, put, result;
static int closed;

__attribute__((noinline)) static uint64_t step(uint64_t x) {
  for (int k = 0; k < 40; k++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}
__attribute__((noinline)) static uint64_t job(uint64_t x) {
  for (int k = 0; k < STEPS; k++) x ^= step(x + (uint64_t)k);
  return x;
}
__attribute__((noinline)) static int next_job(uint64_t *x) {
  pthread_mutex_lock(&queue_lock);
  while (!held && !closed) pthread_cond_wait(&filled, &queue_lock);
  int there = held > 0;
  if (there) {
    *x = queue[taken++ % ROOM];
    if (held-- == ROOM) pthread_cond_signal(&emptied);
  }
  pthread_mutex_unlock(&queue_lock);
  return there;
}
__attribute__((noinline)) static void add_result(uint64_t x) {
  pthread_mutex_lock(&result_lock);
  result += x;
  pthread_mutex_unlock(&result_lock);
}
static void *worker(void *unused) {
  for (uint64_t x; next_job(&x);) add_result(job(x));
  return unused;
}

int main(int count, char **arguments) {
  uint64_t jobs = count > 1 ? strtoull(arguments[1], NULL, 10) : 20000;
  pthread_t threads[WORKERS];
  for (int k = 0; k < WORKERS; k++) pthread_create(&threads[k], NULL, worker, NULL);
  for (uint64_t k = 0; k < jobs; k++) {
    pthread_mutex_lock(&queue_lock);
    while (held == ROOM) pthread_cond_wait(&emptied, &queue_lock);
    queue[put++ % ROOM] = k;
    held++;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue_lock);
  }
  pthread_mutex_lock(&queue_lock);
  closed = 1;
  pthread_cond_broadcast(&filled);
  pthread_mutex_unlock(&queue_lock);
  for (int k = 0; k < WORKERS; k++) pthread_join(threads[k], NULL);
  printf("%llu\n", (unsigned long long)result);
  return 0;
}
