/* Work and span of the thread package, each case by its name. Where these are known, the program prints them, in units
 * and in processor time: see ../span.test.ts. */
#include <quartz/quartz.h>
#include <stdbool.h>
#define UNITS_ALONE
#include "parts.h"

#define ROUNDS 200

static qz_channel first, second;
static qz_mutex lock;
static qz_cond changed;
static qz_barrier round_ends;
static int turn;

/* Of all processor time, what a case says. */
static uint64_t also[2];

static void part(void *argument) { execute(argument); }

/* 200 alone, then 16 times 50 in parallel: work 1000, span 250. Also: that which is alone. */
static void amdahl(void) {
  struct part first = of(200), parts[16];
  execute(&first);
  qz_scope scope = {0};
  for (int k = 0; k < 16; k++) {
    parts[k] = of(50);
    qz_spawn(&scope, part, &parts[k]);
  }
  qz_sync(&scope);
  add(&first);
  add_beside(parts, 16);
  also[0] = first.is[NS];
}

/* Each call halves its part: the left half is spawned, the right half called, and the rest is done afterwards.
 * Also: work and span of what is spawned by the root and by what it calls. */
struct half {
  long depth;
  bool called; /* by the root, or by what it calls */
  uint64_t work[KINDS], span[KINDS];
};
static void tree(void *argument) {
  struct half *its = argument, left = {.depth = its->depth - 1}, right = left;
  struct part before = of(20), after = of(10);
  execute(&before);
  if (its->depth > 0) {
    qz_scope scope = {0};
    qz_spawn(&scope, tree, &left);
    right.called = its->called;
    tree(&right);
    qz_sync(&scope);
    execute(&after);
  } else {
    after = of(0);
  }
  if (its->called) {
    also[0] += left.work[NS];
    also[1] += left.span[NS];
  }
  for (int kind = 0; kind < KINDS; kind++) {
    uint64_t own = before.is[kind] + after.is[kind];
    its->work[kind] = own + left.work[kind] + right.work[kind];
    its->span[kind] = own + longer(left.span[kind], right.span[kind]);
  }
}
static void whole_tree(void) {
  struct half all = {.depth = 5, .called = true};
  tree(&all);
  memcpy(work, all.work, sizeof work);
  memcpy(span, all.span, sizeof span);
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

/* One, three and one unit, through two channels. */
#define PLACES 4
static struct part produced[ROUNDS], changed_on[ROUNDS], consumed[ROUNDS];
static void *one(void *unused) {
  for (long k = 0; k < ROUNDS; k++) {
    produced[k] = of(1);
    execute(&produced[k]);
    qz_channel_send(&first, &k);
  }
  return unused;
}
static void *three(void *unused) {
  for (long k = 0, item; k < ROUNDS; k++) {
    qz_channel_receive(&first, &item);
    changed_on[k] = of(3);
    execute(&changed_on[k]);
    qz_channel_send(&second, &item);
  }
  return unused;
}
static void *last(void *unused) {
  for (long k = 0, item; k < ROUNDS; k++) {
    qz_channel_receive(&second, &item);
    consumed[k] = of(1);
    execute(&consumed[k]);
  }
  return unused;
}
/* Who receives waits for what is sent, who sends for a place. */
static void add_pipeline(void) {
  for (int kind = 0; kind < KINDS; kind++) {
    uint64_t sent[2][ROUNDS], received[2][ROUNDS], end = 0;
    for (int k = 0; k < ROUNDS; k++) {
      for (int stage = 0; stage < 2; stage++) {
        uint64_t ready =
          stage ? received[0][k] + changed_on[k].is[kind] : (k ? sent[0][k - 1] : 0) + produced[k].is[kind];
        sent[stage][k] = k < PLACES ? ready : longer(ready, received[stage][k - PLACES]);
        received[stage][k] = longer(sent[stage][k], stage ? end : k ? sent[1][k - 1] : 0);
      }
      end = received[1][k] + consumed[k].is[kind];
      work[kind] += produced[k].is[kind] + changed_on[k].is[kind] + consumed[k].is[kind];
    }
    span[kind] = end;
  }
}

static struct part rounds[ROUNDS][2];
static void meet(int mine) {
  for (int k = 0; k < ROUNDS; k++) {
    rounds[k][mine] = of(k % 2 == mine ? 4 : 1);
    execute(&rounds[k][mine]);
    qz_barrier_wait(&round_ends);
  }
}
static void *even_late(void *unused) {
  meet(0);
  return unused;
}
static void *odd_late(void *unused) {
  meet(1);
  return unused;
}

static void take_turns(int mine) {
  for (int k = 0; k < ROUNDS; k++) {
    rounds[k][mine] = of(2);
    qz_mutex_lock(&lock);
    while (turn != mine) qz_cond_wait(&changed, &lock);
    qz_mutex_unlock(&lock);
    execute(&rounds[k][mine]);
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

/* Independent of each other: they take turns by yielding where there is one processor. The one with the shorter turns
 * goes on alone: work 700, span 400. */
static struct part yielding[2];
static void yields(struct part *its, uint64_t each, uint64_t then) {
  for (int k = 0; k <= 20; k++) {
    struct part now = of(k < 20 ? each : then);
    execute(&now);
    for (int kind = 0; kind < KINDS; kind++) its->is[kind] += now.is[kind];
    if (k < 20) qz_yield();
  }
}
static void *short_turns(void *unused) {
  yields(&yielding[0], 5, 300);
  return unused;
}
static void *long_turns(void *unused) {
  yields(&yielding[1], 15, 0);
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

/* More threads than processors, so that the lock is handed to threads that then wait for a processor: 100 times 40
 * units, 10 of them under the lock. */
static void locks_late(void *unused) {
  (void)unused;
  units(30);
  qz_mutex_lock(&lock);
  units(10);
  qz_mutex_unlock(&lock);
}
static void handed(void) {
  for (int round = 0; round < 10; round++) {
    qz_scope scope = {0};
    for (int k = 0; k < 10; k++) qz_spawn(&scope, locks_late, NULL);
    qz_sync(&scope);
  }
}

/* Who sleeps, or waits, for 30 ms while the only processor works for longer is ready then, but does not run: the
 * processor's 600 units are beside the 30 ms and the 200 that follow them, and not before these. */
#define NAP_NS 30000000
static struct part beside, following;
static bool begun;
static void *naps_then_works(void *unused) {
  begun = true;
  qz_sleep_ns(NAP_NS);
  execute(&following);
  return unused;
}
static void *waits_then_works(void *unused) {
  begun = true;
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += NAP_NS;
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  qz_mutex_lock(&lock);
  qz_cond_timedwait(&changed, &lock, &deadline);
  qz_mutex_unlock(&lock);
  execute(&following);
  return unused;
}
static void *blocks_then_works(void *unused) {
  begun = true;
  qz_blocking_begin("nap");
  usleep(NAP_NS / 1000);
  qz_blocking_end();
  execute(&following);
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

static void late(void *(*begins)(void *)) {
  beside = of(600);
  following = of(200);
  qz_thread_t thread;
  if (qz_create(&thread, NULL, begins, NULL)) exit(99);
  while (!begun) qz_yield();
  execute(&beside);
  qz_join(thread, NULL);
  for (int kind = 0; kind < KINDS; kind++) {
    work[kind] = beside.is[kind] + following.is[kind];
    span[kind] = longer(beside.is[kind], following.is[kind] + (kind == NS ? NAP_NS : 0));
  }
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  qz_channel_init(&first, "first", sizeof(long), PLACES);
  qz_channel_init(&second, "second", sizeof(long), PLACES);
  qz_mutex_init(&lock, "lock", QZ_ADAPTIVE);
  qz_cond_init(&changed, "changed");
  qz_barrier_init(&round_ends, "round", 2, QZ_ADAPTIVE);
  if (!strcmp(which, "amdahl")) {
    amdahl();
  } else if (!strcmp(which, "tree")) {
    whole_tree();
  } else if (!strcmp(which, "join")) {
    joined();
  } else if (!strcmp(which, "pipeline")) {
    all(3, (void *(*const[])(void *)){one, three, last});
    add_pipeline();
  } else if (!strcmp(which, "barrier")) {
    all(2, (void *(*const[])(void *)){odd_late, even_late});
    for (int k = 0; k < ROUNDS; k++) add_beside(rounds[k], 2);
  } else if (!strcmp(which, "turns")) {
    all(2, (void *(*const[])(void *)){ping, pong});
    for (int k = 0; k < 2 * ROUNDS; k++) add(&rounds[k / 2][k % 2]);
  } else if (!strcmp(which, "yields")) {
    all(2, (void *(*const[])(void *)){short_turns, long_turns});
    add_beside(yielding, 2);
  } else if (!strcmp(which, "convoy")) {
    all(4, (void *(*const[])(void *)){convoy, convoy, convoy, convoy});
  } else if (!strcmp(which, "handed")) {
    handed();
  } else if (!strcmp(which, "sleep")) {
    all(1, (void *(*const[])(void *)){naps});
  } else if (!strcmp(which, "io")) {
    all(1, (void *(*const[])(void *)){blocks});
  } else if (!strcmp(which, "late-sleep")) {
    late(naps_then_works);
  } else if (!strcmp(which, "late-wait")) {
    late(waits_then_works);
  } else if (!strcmp(which, "late-io")) {
    late(blocks_then_works);
  } else {
    return 2;
  }
  if (work[NS]) print_sums();
  if (also[0]) printf("%llu %llu\n", (unsigned long long)also[0], (unsigned long long)also[1]);
  return 0;
}
