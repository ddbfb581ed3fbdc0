/* Does one thing N times, for a count of its instructions by callgrind: instructions.sh. Counting is switched on for
 * those N times alone, for what a program does as it starts (calibration, waiting for the sampler) varies by a million.
 *
 *   bench_instructions CASE N [--publish | --span | --what-if]
 */
#include <quartz/quartz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench/attach.h"
#if defined __has_include && __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT ((void)0) /* counts nothing; instructions.sh says so */
#endif

static void *empty(void *arg) { return arg; }
static void nothing(void *arg) {}

static void loop(long n) {
  for (long k = 0; k < n; k++) __asm__ volatile("");
}
static void create_join(long n) {
  for (long k = 0; k < n; k++) {
    qz_thread_t thread;
    qz_create(&thread, NULL, empty, NULL);
    qz_join(thread, NULL);
  }
}
/* 1,000 at a time, which have ended when they are joined, but for the first. */
static void create_many(long n) {
  static qz_thread_t threads[1000];
  for (; n > 0; n -= 1000) {
    for (int k = 0; k < 1000; k++) qz_create(&threads[k], NULL, empty, NULL);
    for (int k = 0; k < 1000; k++) qz_join(threads[k], NULL);
  }
}
static void spawn_sync(long n) {
  for (long k = 0; k < n; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, nothing, NULL);
    qz_sync(&scope);
  }
}
/* Called by no parent: it waits for something else, and the processor takes the calls from the queue, 1,000 at a time.
 */
static long left;
static qz_sem all_ended;
static void counts_down(void *argument) {
  (void)argument;
  if (--left == 0) qz_sem_post(&all_ended);
}
static void spawn_taken(long n) {
  for (; n > 0; n -= 1000) {
    qz_scope scope = QZ_SCOPE_INIT;
    left = 1000;
    for (int k = 0; k < 1000; k++) qz_spawn(&scope, counts_down, NULL);
    qz_sem_wait(&all_ended);
    qz_sync(&scope);
  }
}
static void *yields(void *n) {
  for (long k = 0; k < (long)n; k++) qz_yield();
  return NULL;
}
/* Two threads, n turns in all. */
static void yield(long n) {
  qz_thread_t thread[2];
  for (int k = 0; k < 2; k++) qz_create(&thread[k], NULL, yields, (void *)(n / 2));
  qz_yield();
  for (int k = 0; k < 2; k++) qz_join(thread[k], NULL);
}
static void lock_unlock(long n) {
  static qz_mutex mutex = QZ_MUTEX_INIT;
  for (long k = 0; k < n; k++) {
    qz_mutex_lock(&mutex);
    qz_mutex_unlock(&mutex);
  }
}
static void sem_pair(long n) {
  static qz_sem sem;
  qz_sem_init(&sem, NULL, 0);
  for (long k = 0; k < n; k++) {
    qz_sem_post(&sem);
    qz_sem_wait(&sem);
  }
}
/* n round trips of two threads. */
static qz_mutex turn_mutex = QZ_MUTEX_INIT;
static qz_cond turn_cond[2] = {QZ_COND_INIT, QZ_COND_INIT};
static long turn, trips;
static void *takes_turns(void *me) {
  for (long k = 0; k < trips; k++) {
    qz_mutex_lock(&turn_mutex);
    while (turn != (long)me) qz_cond_wait(&turn_cond[(long)me], &turn_mutex);
    turn = 1 - turn;
    qz_cond_signal(&turn_cond[turn]);
    qz_mutex_unlock(&turn_mutex);
  }
  return NULL;
}
static void cond_trip(long n) {
  qz_thread_t thread[2];
  trips = n;
  for (long k = 0; k < 2; k++) qz_create(&thread[k], NULL, takes_turns, (void *)k);
  for (int k = 0; k < 2; k++) qz_join(thread[k], NULL);
}
static qz_channel channel[2];
static void *calls(void *n) {
  for (long k = 0; k < (long)n; k++) {
    qz_channel_send(&channel[0], &k);
    qz_channel_receive(&channel[1], &k);
  }
  return NULL;
}
static void *answers(void *n) {
  for (long k = 0, item; k < (long)n; k++) {
    qz_channel_receive(&channel[0], &item);
    qz_channel_send(&channel[1], &item);
  }
  return NULL;
}
static void channel_trip(long n) {
  qz_thread_t thread[2];
  for (int k = 0; k < 2; k++) qz_channel_init(&channel[k], NULL, sizeof(long), 1);
  qz_create(&thread[0], NULL, calls, (void *)n);
  qz_create(&thread[1], NULL, answers, (void *)n);
  for (int k = 0; k < 2; k++) qz_join(thread[k], NULL);
}
/* n rounds of eight threads. */
enum { PARTIES = 8 };
static qz_barrier barrier;
static void *arrives(void *n) {
  for (long k = 0; k < (long)n; k++) qz_barrier_wait(&barrier);
  return NULL;
}
static void barrier_round(long n) {
  qz_thread_t thread[PARTIES];
  qz_barrier_init(&barrier, NULL, PARTIES, QZ_BLOCK);
  for (int k = 0; k < PARTIES; k++) qz_create(&thread[k], NULL, arrives, (void *)n);
  for (int k = 0; k < PARTIES; k++) qz_join(thread[k], NULL);
}

static const struct {
  const char *name;
  void (*run)(long);
} cases[] = {
  {"loop", loop},
  {"create_join", create_join},
  {"create_many", create_many},
  {"spawn_sync", spawn_sync},
  {"spawn_taken", spawn_taken},
  {"yield", yield},
  {"lock_unlock", lock_unlock},
  {"post_wait", sem_pair},
  {"cond", cond_trip},
  {"channel", channel_trip},
  {"barrier", barrier_round},
};

int main(int argc, char **argv) {
  if (argc > 3) bench_attach_by(argv[3]);
  for (size_t k = 0; argc > 2 && k < sizeof cases / sizeof *cases; k++) {
    if (strcmp(cases[k].name, argv[1])) continue;
    cases[k].run(1000); /* what is done once is done */
    CALLGRIND_TOGGLE_COLLECT;
    cases[k].run(atol(argv[2]));
    CALLGRIND_TOGGLE_COLLECT;
    return 0;
  }
  fprintf(stderr, "usage: bench_instructions CASE N [--publish | --span | --what-if], CASE one of:");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) fprintf(stderr, " %s", cases[k].name);
  fprintf(stderr, "\n");
  return 2;
}
