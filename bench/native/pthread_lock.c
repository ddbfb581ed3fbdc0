/* Lock and unlock of a free mutex by one thread of a process that has several: ns for a pair, the least of many
 * batches: always the same mutex; a million different ones in turn, none of which is in a cache; and what it takes to
 * make and destroy one of those. lock [BATCHES]     alone, with LD_PRELOAD of the layer, or under quartz-sampler
 * record: see pthread_run.sh
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 20000
#define MANY  1000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}
static void *waits(void *unused) { /* the process has threads; this one costs nothing */
  pthread_mutex_lock(&quiet);
  pthread_mutex_unlock(&quiet);
  return NULL;
}

int main(int count, char **arguments) {
  int batches = count > 1 ? atoi(arguments[1]) : 400;
  double least = 1e18;
  pthread_t thread;
  pthread_mutex_lock(&quiet);
  pthread_create(&thread, NULL, waits, NULL);
  usleep(20000);
  for (int k = 0; k < batches; k++) {
    double begin = now_ns();
    for (int pair = 0; pair < PAIRS; pair++) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    double ns = (now_ns() - begin) / PAIRS;
    if (ns < least) least = ns;
  }
  pthread_mutex_t *many = malloc(MANY * sizeof *many);
  if (!many) return 1;
  memset(many, 1, MANY * sizeof *many);
  double cold = 1e18, begin = now_ns();
  for (int k = 0; k < MANY; k++) pthread_mutex_init(&many[k], NULL);
  double made = (now_ns() - begin) / MANY;
  for (int round = 0; round < 8; round++) {
    begin = now_ns();
    for (int k = 0; k < MANY; k++) {
      pthread_mutex_lock(&many[k]);
      pthread_mutex_unlock(&many[k]);
    }
    double ns = (now_ns() - begin) / MANY;
    if (ns < cold) cold = ns;
  }
  begin = now_ns();
  for (int k = 0; k < MANY; k++) pthread_mutex_destroy(&many[k]);
  made += (now_ns() - begin) / MANY;
  pthread_mutex_unlock(&quiet);
  pthread_join(thread, NULL);
  printf("%.1f / %.1f / %.1f ns\n", least, cold, made);
  return 0;
}
