/* A ready thread runs as soon as a processor is idle, even if the thread that made it ready never calls the package
 * again: each round waits outside of the package until another processor has done its part. There are many rounds,
 * because a wake-up can only be lost if a processor falls asleep at that very moment. */
#include <quartz/quartz.h>
#include <time.h>
#include <unistd.h>
#include "test/support/check.h"

enum { ROUND_LIMIT_S = 200 };
static uint32_t seed = 1;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static unsigned random_below(unsigned bound) {
  uint32_t value = __atomic_add_fetch(&seed, 0x9e3779b9, __ATOMIC_RELAXED) * 0x85ebca6b;
  return (value ^ value >> 15) % bound;
}

/* Some time between none and 20 us, so that rounds begin at any moment of the others' searches. */
static void dawdle(void) {
  double end = now_s() + random_below(20000) * 1e-9;
  while (now_s() < end) continue;
}

/* Keeps its processor until the flag is set. */
static void wait_for(const int *flag) {
  double begin = now_s();
  for (unsigned n = 0; !__atomic_load_n(flag, __ATOMIC_ACQUIRE); n++) {
    if (n < 200) continue;
    usleep(20);
    CHECK(now_s() - begin < ROUND_LIMIT_S);
  }
}

static void *sets(void *flag) {
  __atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
  return NULL;
}
static void *awaits(void *flag) {
  wait_for(flag);
  return NULL;
}

static void created(void) {
  int flag[3] = {0}, count = 1 + (int)random_below(2);
  qz_thread_t thread[3];
  dawdle();
  for (int k = 0; k < count; k++) CHECK(qz_create(&thread[k], "sets", sets, &flag[k]) == 0);
  for (int k = 0; k < count; k++) wait_for(&flag[k]);
  for (int k = 0; k < count; k++) CHECK(qz_join(thread[k], NULL) == 0);
}

/* The caller yields to a thread that keeps the processor until the caller has returned. */
static void yielded(void) {
  int back = 0;
  qz_thread_t thread;
  dawdle();
  CHECK(qz_create(&thread, "awaits", awaits, &back) == 0);
  qz_yield();
  sets(&back);
  CHECK(qz_join(thread, NULL) == 0);
}

struct pair {
  qz_sem ready;
  int flag;
};
static void *posted_to(void *arg) {
  struct pair *pair = arg;
  CHECK(qz_sem_wait(&pair->ready) == 0);
  return sets(&pair->flag);
}
static void posted(void) {
  struct pair pair = {.flag = 0};
  qz_thread_t thread;
  CHECK(qz_sem_init(&pair.ready, "ready", 0) == 0);
  CHECK(qz_create(&thread, "posted to", posted_to, &pair) == 0);
  for (int k = 0; k < 3; k++) qz_yield();
  dawdle();
  CHECK(qz_sem_post(&pair.ready) == 0);
  wait_for(&pair.flag);
  CHECK(qz_join(thread, NULL) == 0);
}

/* All processors are busy when a thread is created; then one of them becomes free by a blocking region. */
static int inside, running;
static void *enters(void *flag) {
  __atomic_add_fetch(&running, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE)) continue;
  dawdle();
  qz_blocking_begin("wait");
  wait_for(flag);
  qz_blocking_end();
  return NULL;
}
static void region(void) {
  int flag = 0;
  qz_thread_t thread, setter;
  __atomic_store_n(&inside, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&running, 0, __ATOMIC_RELAXED);
  CHECK(qz_create(&thread, "enters", enters, &flag) == 0);
  wait_for(&running);
  __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
  dawdle();
  CHECK(qz_create(&setter, "sets", sets, &flag) == 0);
  wait_for(&flag);
  CHECK(qz_join(setter, NULL) == 0);
  CHECK(qz_join(thread, NULL) == 0);
}

/* Deadlines are met while processors fall asleep, and while the caller keeps its own. */
static void *sleeps(void *flag) {
  qz_sleep_ns(1000 + random_below(60000));
  return sets(flag);
}
static void slept(void) {
  int flag[2] = {0};
  qz_thread_t thread[2];
  for (int k = 0; k < 2; k++) CHECK(qz_create(&thread[k], "sleeps", sleeps, &flag[k]) == 0);
  if (random_below(2)) qz_sleep_ns(1000 + random_below(60000));
  for (int k = 0; k < 2; k++) wait_for(&flag[k]);
  for (int k = 0; k < 2; k++) CHECK(qz_join(thread[k], NULL) == 0);
}

int main(int argc, char **argv) {
  if (qz_processors() == 1) return 0; /* the waiting thread keeps the only one */
  void (*const rounds[])(void) = {created, yielded, posted, region, slept};
  double length_s = argc > 1 ? atof(argv[1]) : 0.4;
  for (unsigned k = 0; k < sizeof rounds / sizeof *rounds; k++) {
    unsigned count = 0;
    for (double end = now_s() + length_s; now_s() < end; count++) rounds[k]();
    if (argc > 1) fprintf(stderr, "%u: %u rounds\n", k, count);
  }
  return 0;
}
