/* Lock and unlock of a free mutex by one thread of a process that has several: ns for a pair, the least of many batches.
 *   lock [BATCHES]     alone, with LD_PRELOAD of the layer, or under quartz-sampler record: see run.sh
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 20000

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
  pthread_mutex_unlock(&quiet);
  pthread_join(thread, NULL);
  printf("%.2f ns\n", least);
  return 0;
}
