/* Speed of the synchronization objects, beside pthread's where that has the same.
 *
 *   QUARTZ_PROCESSORS=1 bench_sync_objects [--publish] [--repeat N] [CASE...]
 *
 * Prints for each case the median and the range over the repeats, in ns: mutex: lock + unlock; mutex8: one critical
 * section of one of 8 threads, and the longest that one waited; cond, channel, semaphore: round trip of two threads;
 * barrier8: one round of 8 threads. --publish: a child attaches to the session, so that everything is published.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <quartz/quartz.h>
#include "bench/attach.h"

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static qz_mutex mutex = QZ_MUTEX_INIT;
static pthread_mutex_t pmutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long counter;

static double mutex_free(void) {
  enum { N = 5000000 };
  double start = now_ns();
  for (long i = 0; i < N; i++) {
    qz_mutex_lock(&mutex);
    counter = counter + 1;
    qz_mutex_unlock(&mutex);
  }
  return (now_ns() - start) / N;
}

static void *idle_pthread(void *stop) {
  while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) usleep(1000);
  return NULL;
}
static double pthread_mutex_free(void) {
  enum { N = 5000000 };
  int stop = 0;
  pthread_t other; /* glibc has a shorter way for processes without threads */
  pthread_create(&other, NULL, idle_pthread, &stop);
  double start = now_ns();
  for (long i = 0; i < N; i++) {
    pthread_mutex_lock(&pmutex);
    counter = counter + 1;
    pthread_mutex_unlock(&pmutex);
  }
  double ns = (now_ns() - start) / N;
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(other, NULL);
  return ns;
}

enum { EIGHT = 8, EACH = 500000 };
static int gate;
static double longest_ns;

static void *eight(void *own) {
  double *longest = own;
  __atomic_fetch_add(&gate, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&gate, __ATOMIC_RELAXED) < EIGHT) qz_yield();
  for (long i = 0; i < EACH; i++) {
    bool timed = i % 16 == 0; /* rarely: the clock costs more than the lock */
    double asked = timed ? now_ns() : 0;
    qz_mutex_lock(&mutex);
    double waited = timed ? now_ns() - asked : 0;
    counter = counter + 1;
    qz_mutex_unlock(&mutex);
    if (waited > *longest) *longest = waited;
  }
  return NULL;
}

static double run_threads(int n, void *(*function)(void *), void **arguments) {
  qz_thread_t threads[EIGHT];
  double start = now_ns();
  for (int i = 0; i < n; i++) qz_create(&threads[i], NULL, function, arguments ? arguments[i] : (void *)(intptr_t)i);
  for (int i = 0; i < n; i++) qz_join(threads[i], NULL);
  return now_ns() - start;
}

static double mutex8(void) {
  double longest[EIGHT] = {0};
  void *arguments[EIGHT];
  for (int i = 0; i < EIGHT; i++) arguments[i] = &longest[i];
  gate = 0;
  counter = 0;
  double ns = run_threads(EIGHT, eight, arguments);
  if (counter != (long)EIGHT * EACH) abort();
  for (int i = 0; i < EIGHT; i++)
    if (longest[i] > longest_ns) longest_ns = longest[i];
  return ns / ((double)EIGHT * EACH);
}

enum { TRIPS = 300000 };
static qz_cond conds[2] = {QZ_COND_INIT, QZ_COND_INIT};
static int turn;
static void *ping_cond(void *argument) {
  int me = (int)(intptr_t)argument;
  for (long i = 0; i < TRIPS; i++) {
    qz_mutex_lock(&mutex);
    while (turn != me) qz_cond_wait(&conds[me], &mutex);
    turn = 1 - me;
    qz_cond_signal(&conds[1 - me]);
    qz_mutex_unlock(&mutex);
  }
  return NULL;
}
static double cond_trip(void) {
  turn = 0;
  return run_threads(2, ping_cond, NULL) / TRIPS;
}

static qz_channel channels[2];
static void *ping_channel(void *argument) {
  int me = (int)(intptr_t)argument;
  long item = 0;
  for (long i = 0; i < TRIPS; i++) {
    if (me == 0) qz_channel_send(&channels[0], &item);
    qz_channel_receive(&channels[1 - me], &item);
    if (me == 1) qz_channel_send(&channels[1], &item);
  }
  return NULL;
}
static double channel_trip(void) {
  qz_channel_init(&channels[0], "there", sizeof(long), 1);
  qz_channel_init(&channels[1], "back", sizeof(long), 1);
  double ns = run_threads(2, ping_channel, NULL) / TRIPS;
  qz_channel_destroy(&channels[0]);
  qz_channel_destroy(&channels[1]);
  return ns;
}

static qz_sem sems[2];
static void *ping_sem(void *argument) {
  int me = (int)(intptr_t)argument;
  for (long i = 0; i < TRIPS; i++) {
    qz_sem_wait(&sems[me]);
    qz_sem_post(&sems[1 - me]);
  }
  return NULL;
}
static double sem_trip(void) {
  qz_sem_init(&sems[0], "ping", 1);
  qz_sem_init(&sems[1], "pong", 0);
  double ns = run_threads(2, ping_sem, NULL) / TRIPS;
  qz_sem_destroy(&sems[0]);
  qz_sem_destroy(&sems[1]);
  return ns;
}

static qz_barrier barrier;
enum { ROUNDS = 100000 };
static void *rounds(void *unused) {
  (void)unused;
  for (long i = 0; i < ROUNDS; i++) qz_barrier_wait(&barrier);
  return NULL;
}
static double barrier8(void) {
  qz_barrier_init(&barrier, "eight", EIGHT, QZ_ADAPTIVE);
  double ns = run_threads(EIGHT, rounds, NULL) / ROUNDS;
  qz_barrier_destroy(&barrier);
  return ns;
}

static const struct {
  const char *name;
  double (*run)(void);
} cases[] = {
  {"mutex", mutex_free},     {"pthread-mutex", pthread_mutex_free},
  {"mutex8", mutex8},        {"cond", cond_trip},
  {"channel", channel_trip}, {"semaphore", sem_trip},
  {"barrier8", barrier8},
};

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  int repeat = 7, first = 1;
  for (; first < argc && argv[first][0] == '-'; first++) {
    if (!strcmp(argv[first], "--publish"))
      bench_attach();
    else if (!strcmp(argv[first], "--repeat") && first + 1 < argc)
      repeat = atoi(argv[++first]);
    else
      return fprintf(stderr, "quartz: bench_sync_objects: unknown option %s\n", argv[first]), 2;
  }
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    bool wanted = first == argc;
    for (int i = first; i < argc; i++) wanted |= !strcmp(argv[i], cases[c].name);
    if (!wanted) continue;
    double ns[100];
    if (repeat > 100) repeat = 100;
    cases[c].run();
    longest_ns = 0;
    for (int r = 0; r < repeat; r++) ns[r] = cases[c].run();
    qsort(ns, (size_t)repeat, sizeof *ns, ascending);
    printf("%-14s p%u  %9.2f ns  (%.2f to %.2f)", cases[c].name, qz_processors(), ns[repeat / 2], ns[0],
           ns[repeat - 1]);
    if (longest_ns > 0) printf("  longest wait %.0f us", longest_ns / 1000);
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
