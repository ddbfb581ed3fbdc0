/* Micro-benchmarks of threads, fork-join and switching.
 *
 *   QUARTZ_PROCESSORS=1 bench_threads [--publish | --span | --what-if] [spawn | yield | block [THREADS]]
 *
 * Prints for each case the median and the range over several runs. --publish: everything is published;
 * --span: with work and span; --what-if: with two lanes besides.
 * BENCH_CPU_TIME=1: CPU time, for a machine that is busy.
 */
#include <quartz/quartz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/attach.h"

#define RUNS 9

static double now_ns(void) {
  struct timespec t;
  clock_gettime(getenv("BENCH_CPU_TIME") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static void report(const char *name, double (*run)(void)) {
  double value[RUNS];
  for (int k = 0; k < RUNS; k++) value[k] = run();
  qsort(value, RUNS, sizeof *value, by_value);
  printf("%-34s %10.2f ns   (%.2f to %.2f)\n", name, value[RUNS / 2], value[0], value[RUNS - 1]);
  fflush(stdout);
}

static void *empty(void *arg) { return arg; }
static void nothing(void *arg) {}

static double create_join(void) {
  enum { N = 1000000 };
  double begin = now_ns();
  for (int k = 0; k < N; k++) {
    qz_thread_t t;
    qz_create(&t, NULL, empty, NULL);
    qz_join(t, NULL);
  }
  return (now_ns() - begin) / N;
}
static double spawn_sync(void) {
  enum { N = 1000000 };
  double begin = now_ns();
  for (int k = 0; k < N; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, nothing, NULL);
    qz_sync(&scope);
  }
  return (now_ns() - begin) / N;
}
static double create_join_switch(void) {
  enum { N = 300000 };
  double begin = now_ns();
  for (int k = 0; k < N; k++) {
    qz_thread_t t;
    qz_create(&t, NULL, empty, NULL);
    qz_yield();
    qz_join(t, NULL);
  }
  return (now_ns() - begin) / N;
}
static double batches(void) {
  enum { N = 200, BATCH = 1000 };
  static qz_thread_t t[BATCH];
  double begin = now_ns();
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < BATCH; i++) qz_create(&t[i], NULL, empty, NULL);
    for (int i = 0; i < BATCH; i++) qz_join(t[i], NULL);
  }
  return (now_ns() - begin) / N / BATCH;
}

struct fib {
  int n;
  long value;
};
static void fib(void *arg) {
  struct fib *f = arg;
  if (f->n < 2) {
    f->value = f->n;
    return;
  }
  struct fib a = {f->n - 1, 0}, b = {f->n - 2, 0};
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, fib, &a);
  fib(&b);
  qz_sync(&scope);
  f->value = a.value + b.value;
}
static double fork_join(void) {
  struct fib f = {27, 0};
  double begin = now_ns();
  fib(&f);
  double end = now_ns();
  return (end - begin) / 317810; /* calls with n of 2 and more, one spawn each */
}

static void *yielder(void *arg) {
  for (long k = (long)arg; k > 0; k--) qz_yield();
  return NULL;
}
static double ring(int threads, long turns) {
  qz_thread_t *t = malloc((size_t)threads * sizeof *t);
  for (int k = 0; k < threads; k++) qz_create(&t[k], NULL, yielder, (void *)turns);
  double begin = now_ns();
  for (int k = threads; k-- > 0;) qz_join(t[k], NULL);
  double end = now_ns();
  free(t);
  return (end - begin) / threads / (double)turns;
}
static double ring2(void) { return ring(2, 1000000); }
static double ring100000(void) { return ring(100000, 20); }

static long resident_bytes(void) {
  long pages = 0, shared = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f) {
    if (fscanf(f, "%*d %ld %ld", &pages, &shared) != 2) pages = 0;
    fclose(f);
  }
  return pages * sysconf(_SC_PAGESIZE);
}
static qz_sem gate;
static void *blocks(void *arg) {
  qz_sem_wait(&gate);
  return NULL;
}
static void block_many(int threads) {
  qz_thread_t *t = malloc((size_t)threads * sizeof *t);
  memset(t, 0, (size_t)threads * sizeof *t);
  qz_sem_init(&gate, "gate", 0);
  long before = resident_bytes();
  for (int round = 0; round < 3; round++) { /* round 0: new stacks; then the same ones again */
    double begin = now_ns();
    for (int k = 0; k < threads; k++)
      if (qz_create(&t[k], NULL, blocks, NULL)) {
        printf("creation %d failed\n", k);
        exit(1);
      }
    for (int k = 0; k < 3; k++) qz_yield();
    double created = now_ns();
    long bytes = resident_bytes() - before;
    for (int k = 0; k < threads; k++) qz_sem_post(&gate);
    for (int k = 0; k < threads; k++) qz_join(t[k], NULL);
    double joined = now_ns();
    printf("%d blocked, round %d: create+block %.0f ns, wake+join %.0f ns, resident %.0f bytes each\n", threads, round,
           (created - begin) / threads, (joined - created) / threads, (double)bytes / threads);
    fflush(stdout);
  }
  free(t);
}

static void *all(void *arg) {
  report("create+join", create_join);
  report("spawn+sync", spawn_sync);
  report("fib per spawn", fork_join);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc > 1 && !strncmp(argv[1], "--", 2)) {
    bench_attach_by(argv[1]);
    argc--, argv++;
  }
  const char *only = argc > 1 ? argv[1] : "";
  printf("%u processors\n", qz_processors());
  if (!*only || !strcmp(only, "spawn")) {
    all(NULL);
    report("create+yield+join (own stack)", create_join_switch);
    report("batches of 1000", batches);
  }
  if (!*only || !strcmp(only, "yield")) {
    report("yield among 2", ring2);
    report("yield among 100000", ring100000);
  }
  if (!*only || !strcmp(only, "block")) block_many(argc > 2 ? atoi(argv[2]) : 100000);
  return 0;
}
