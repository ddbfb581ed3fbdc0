/* Work and span of the thread package, each case by its name, of counted units: see ../span.test.ts. */
#include <quartz/quartz.h>
#define UNITS_ALONE
#include "units.h"

#define ROUNDS 200

static qz_channel first, second;
static qz_mutex lock;
static qz_cond changed;
static qz_barrier round_ends;
static int turn;

static void part(void *argument) { units((uint64_t) * (long *)argument); }

/* 200 alone, then 16 times 50 in parallel: work 1000, span 250. */
static void amdahl(void) {
  long n = 50;
  units(200);
  qz_scope scope = {0};
  for (int k = 0; k < 16; k++) qz_spawn(&scope, part, &n);
  qz_sync(&scope);
}

/* Each call halves its part: the left half is spawned, the right half called, and the rest is done afterwards. */
static void tree(void *argument) {
  long n = *(long *)argument;
  units(20);
  if (n == 0) return;
  long less = n - 1;
  qz_scope scope = {0};
  qz_spawn(&scope, tree, &less);
  tree(&less);
  qz_sync(&scope);
  units(10);
}

static void *does(void *argument) {
  units((uint64_t) * (long *)argument);
  return NULL;
}
/* 100 alone, 300 in parallel with 100, joined in the reverse order of their ends: work 600, span 500. */
static void joined(void) {
  qz_thread_t a, b;
  long much = 300, little = 100;
  units(100);
  if (qz_create(&a, "much", does, &much) || qz_create(&b, "little", does, &little)) exit(99);
  qz_join(b, NULL);
  qz_join(a, NULL);
  units(100);
}

static void *one(void *unused) {
  for (long k = 0; k < ROUNDS; k++) {
    units(1);
    qz_channel_send(&first, &k);
  }
  return unused;
}
static void *three(void *unused) {
  for (long k = 0, item; k < ROUNDS; k++) {
    qz_channel_receive(&first, &item);
    units(3);
    qz_channel_send(&second, &item);
  }
  return unused;
}
static void *last(void *unused) {
  for (long k = 0, item; k < ROUNDS; k++) {
    qz_channel_receive(&second, &item);
    units(1);
  }
  return unused;
}

static void *odd_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    units(k % 2 ? 4 : 1);
    qz_barrier_wait(&round_ends);
  }
  return unused;
}
static void *even_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    units(k % 2 ? 1 : 4);
    qz_barrier_wait(&round_ends);
  }
  return unused;
}

static void take_turns(int mine) {
  for (int k = 0; k < ROUNDS; k++) {
    qz_mutex_lock(&lock);
    while (turn != mine) qz_cond_wait(&changed, &lock);
    qz_mutex_unlock(&lock);
    units(2);
    qz_mutex_lock(&lock);
    turn = !mine;
    qz_cond_broadcast(&changed);
    qz_mutex_unlock(&lock);
  }
}
static void *ping(void *unused) {
  take_turns(0);
  return unused;
}
static void *pong(void *unused) {
  take_turns(1);
  return unused;
}

static void *convoy(void *unused) {
  for (int k = 0; k < 25; k++) {
    qz_mutex_lock(&lock);
    units(19);
    qz_mutex_unlock(&lock);
    units(1);
    qz_yield();
  }
  return unused;
}

static void *naps(void *unused) {
  qz_sleep_ns(200000000);
  return unused;
}
static void *blocks(void *unused) {
  qz_blocking_begin("nap");
  usleep(200000);
  qz_blocking_end();
  return unused;
}

static void all(int count, void *(*const starts[])(void *)) {
  qz_thread_t threads[4];
  for (int k = 0; k < count; k++)
    if (qz_create(&threads[k], NULL, starts[k], NULL)) exit(99);
  for (int k = 0; k < count; k++) qz_join(threads[k], NULL);
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  qz_channel_init(&first, "first", sizeof(long), 4);
  qz_channel_init(&second, "second", sizeof(long), 4);
  qz_mutex_init(&lock, "lock", QZ_ADAPTIVE);
  qz_cond_init(&changed, "changed");
  qz_barrier_init(&round_ends, "round", 2, QZ_ADAPTIVE);
  if (!strcmp(which, "amdahl")) {
    amdahl();
  } else if (!strcmp(which, "tree")) {
    long depth = 5;
    tree(&depth);
  } else if (!strcmp(which, "join")) {
    joined();
  } else if (!strcmp(which, "pipeline")) {
    all(3, (void *(*const[])(void *)){one, three, last});
  } else if (!strcmp(which, "barrier")) {
    all(2, (void *(*const[])(void *)){odd_late, even_late});
  } else if (!strcmp(which, "turns")) {
    all(2, (void *(*const[])(void *)){ping, pong});
  } else if (!strcmp(which, "convoy")) {
    all(4, (void *(*const[])(void *)){convoy, convoy, convoy, convoy});
  } else if (!strcmp(which, "sleep")) {
    all(1, (void *(*const[])(void *)){naps});
  } else if (!strcmp(which, "io")) {
    all(1, (void *(*const[])(void *)){blocks});
  } else {
    return 2;
  }
  return 0;
}
