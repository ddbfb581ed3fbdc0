/* Locks that the program implements itself, and something that only looks like a lock: own_lock KIND THREADS NAMES
 *
 *   token  a flag protected by a mutex and a condition: each thread has it for 1.0 of every 1.2 ms of its processor
 * time, so that one at a time works there, and the others wait broad  the same, but the thread that returns it wakes
 * all turns  a condition for each thread, as in interpreters: the thread that returns the token signals the next one's
 *   pool   as many pieces of work as there are CPUs circulate among the threads: each thread takes one if there is one,
 *          works on it, puts it back and wakes another thread. All wait at one condition, too, but two work at a time
 *
 * NAMES is "same" or "numbered", which must make no difference. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS  250
#define THREADS 4
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t free_again = PTHREAD_COND_INITIALIZER;
static pthread_cond_t turn[THREADS] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                       PTHREAD_COND_INITIALIZER};
static int taken, asking[THREADS], left = 2;
static const char *kind, *names;
static volatile double sink;

static inline __attribute__((always_inline)) void work_us(long us) {
  struct timespec from, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  do {
    for (int k = 0; k < 20000; k++) sink += k;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}
__attribute__((noinline)) static void update(void) { work_us(1000); }
__attribute__((noinline)) static void prepare(void) { work_us(200); }

__attribute__((noinline)) static void get(long me) {
  pthread_mutex_lock(&mutex);
  if (!strcmp(kind, "pool")) {
    while (!left) pthread_cond_wait(&free_again, &mutex);
    left--;
  } else if (!strcmp(kind, "turns")) {
    asking[me] = 1;
    while (taken) pthread_cond_wait(&turn[me], &mutex);
    asking[me] = 0;
    taken = 1;
  } else {
    while (taken) pthread_cond_wait(&free_again, &mutex);
    taken = 1;
  }
  pthread_mutex_unlock(&mutex);
}
__attribute__((noinline)) static void give_back(long me) {
  pthread_mutex_lock(&mutex);
  taken = 0;
  if (!strcmp(kind, "pool")) {
    left++;
    pthread_cond_signal(&free_again);
  } else if (!strcmp(kind, "turns")) {
    for (long k = 1; k < THREADS; k++)
      if (asking[(me + k) % THREADS]) {
        pthread_cond_signal(&turn[(me + k) % THREADS]);
        break;
      }
  } else if (!strcmp(kind, "broad")) {
    pthread_cond_broadcast(&free_again);
  } else {
    pthread_cond_signal(&free_again);
  }
  pthread_mutex_unlock(&mutex);
}

static void *run(void *argument) {
  long me = (long)argument;
  char name[16] = "worker";
  if (!strcmp(names, "numbered")) snprintf(name, sizeof name, "worker-%ld", me);
  pthread_setname_np(pthread_self(), name);
  for (int round = 0; round < ROUNDS; round++) {
    prepare();
    get(me);
    update();
    give_back(me);
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[THREADS];
  if (count < 4) return 2;
  kind = arguments[1];
  names = arguments[3];
  long wanted = atol(arguments[2]);
  if (wanted > THREADS) return 2;
  for (long k = 0; k < wanted; k++) pthread_create(&threads[k], NULL, run, (void *)k);
  for (long k = 0; k < wanted; k++) pthread_join(threads[k], NULL);
  return 0;
}
