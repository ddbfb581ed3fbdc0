/* Threads that wait for 300 ms of processor time each, one after the other, in loops that are not marked; and threads
 * that work as long, in loops that are as tight. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "call_counts.h"

static volatile int up;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counter;
static unsigned long results[4];

static void *watches(void *unused) {
  while (!up) continue;
  return NULL;
}
static void *pauses(void *unused) {
#if defined(__x86_64__)
  while (!up) __builtin_ia32_pause();
#else
  while (!up) continue;
#endif
  return NULL;
}
static void *
backs_off(void *unused) { /* waits twice as long between two reads, up to a limit; so it does not only read */
  for (unsigned long most = 1; !up; most = most < 4096 ? 2 * most : 1)
    for (volatile unsigned long k = 0; k < most; k++) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  return NULL;
}
static void *grabs(void *unused) {
  while (atomic_flag_test_and_set(&taken)) continue;
  return NULL;
}
static void *computes(void *unused) {
  unsigned long x = 88172645463325252;
  do {
    for (int k = 0; k < 100000; k++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
  } while (!up);
  results[0] = x;
  return NULL;
}
static void *counts(void *unused) { /* registers do not change; memory does */
  while (!up) __atomic_fetch_add(&results[1], 1, __ATOMIC_RELAXED);
  return NULL;
}
static void *
patient(void *unused) { /* polls for a while, then does something else, like a barrier that spins before it blocks */
  while (!up) {
    for (volatile unsigned long k = 0; !up && k < 30000; k++) continue;
    pthread_mutex_lock(&counter_lock);
    pthread_mutex_unlock(&counter_lock);
  }
  return NULL;
}
static volatile unsigned long rounds = 30000;
static void *repeats(void *unused) { /* as tight, but what it reads says how much to do */
  while (!up) {
    for (volatile unsigned long k = 0; k < rounds; k++) continue;
    pthread_mutex_lock(&counter_lock);
    pthread_mutex_unlock(&counter_lock);
  }
  return NULL;
}
static void *locks(void *unused) {
  while (!up) {
    pthread_mutex_lock(&counter_lock);
    counter++;
    pthread_mutex_unlock(&counter_lock);
  }
  return NULL;
}

static void in_turn(const char *name, void *(*routine)(void *)) {
  pthread_t thread;
  up = 0;
  atomic_flag_test_and_set(&taken);
  pthread_create(&thread, NULL, routine, NULL);
  pthread_setname_np(thread, name);
  until_used(thread, 300000000);
  up = 1;
  atomic_flag_clear(&taken);
  pthread_join(thread, NULL);
}

int main(void) {
  in_turn("watches", watches);
  in_turn("pauses", pauses);
  in_turn("backs off", backs_off);
  in_turn("grabs", grabs);
  in_turn("patient", patient);
  in_turn("computes", computes);
  in_turn("repeats", repeats);
  in_turn("counts", counts);
  in_turn("locks", locks);
  return 0;
}
