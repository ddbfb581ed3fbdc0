/* One thread does the work that another one passes to it, piece by piece, and a third one takes the results: this is no
 * pipeline, because the other threads have nothing to do. one_worker PIECES: each takes 2 ms of the worker's processor
 * time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct box {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int full;
};
static struct box given = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct box made = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static long pieces;
static volatile double sink;

__attribute__((noinline)) static void put(struct box *box) {
  pthread_mutex_lock(&box->mutex);
  while (box->full) pthread_cond_wait(&box->changed, &box->mutex);
  box->full = 1;
  pthread_cond_broadcast(&box->changed);
  pthread_mutex_unlock(&box->mutex);
}
__attribute__((noinline)) static void take(struct box *box) {
  pthread_mutex_lock(&box->mutex);
  while (!box->full) pthread_cond_wait(&box->changed, &box->mutex);
  box->full = 0;
  pthread_cond_broadcast(&box->changed);
  pthread_mutex_unlock(&box->mutex);
}

__attribute__((noinline)) static void render(void) {
  struct timespec from, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do {
    for (int k = 0; k < 20000; k++) sink += k;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < 2000);
}

static void *hand_out(void *unused) {
  for (long k = 0; k < pieces; k++) put(&given);
  return unused;
}
static void *work(void *unused) {
  for (long k = 0; k < pieces; k++) {
    take(&given);
    render();
    put(&made);
  }
  return unused;
}

int main(int count, char **arguments) {
  pthread_t threads[2];
  pieces = count > 1 ? atol(arguments[1]) : 300;
  pthread_create(&threads[0], NULL, hand_out, NULL);
  pthread_create(&threads[1], NULL, work, NULL);
  for (long k = 0; k < pieces; k++) take(&made);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
