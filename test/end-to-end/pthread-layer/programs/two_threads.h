/* Threads that share a lock, for programs that also do something unusual. */
#ifndef TEST_TWO_THREADS_H
#define TEST_TWO_THREADS_H
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"

#define CREW 4
static pthread_mutex_t crew_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t crew[CREW];
static int crew_sum;

static void *member(void *rounds) {
  for (int k = 0; k < *(const int *)rounds; k++) {
    pthread_mutex_lock(&crew_lock);
    work_us(200);
    crew_sum++;
    pthread_mutex_unlock(&crew_lock);
  }
  return NULL;
}
static int crew_begin(const int *rounds) {
  for (int k = 0; k < CREW; k++)
    if (pthread_create(&crew[k], NULL, member, (void *)(uintptr_t)rounds)) return -1;
  return 0;
}
static void crew_end(void) {
  for (int k = 0; k < CREW; k++) pthread_join(crew[k], NULL);
}
/* Runs the two threads for a short time; prints one line that is always the same. */
static void crew_work(const char *what) {
  static const int rounds = 25;
  crew_sum = 0;
  if (crew_begin(&rounds)) {
    printf("%s: no threads\n", what);
    return;
  }
  crew_end();
  printf("%s: %d\n", what, crew_sum);
  fflush(stdout);
}
#endif
