/* Tasks: spawned calls that become threads only when they need to be (docs/reference/threads.md, "Tasks"). Who they
 * are, that they may wait and end anywhere, and that no more threads are needed than may be made.
 *
 *   core_tasks [fork | published | spanned | changing]
 * fork: instead of that, that a task may fork. published: all that while everything is published; spanned: and work and
 * span are recorded. changing: while that begins and ends all the time.
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <quartz/quartz.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/support/attach.h"
#include "test/support/check.h"

/* ---- who they are ---- */

struct asks {
  int depth;
  bool before, after; /* whether it asks for its identity before it calls others, and after that */
  qz_thread_t self;
};
static void asks(void *argument) {
  struct asks *own = argument;
  if (own->before) own->self = qz_self();
  if (own->depth > 0) {
    struct asks inner = {own->depth - 1, own->after, own->before, {0}};
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, asks, &inner);
    qz_sync(&scope);
    if (own->after) {
      qz_thread_t self = qz_self();
      CHECK(!qz_equal(self, inner.self));
      CHECK(!own->before || qz_equal(self, own->self));
    }
  }
}
static void identities(void) {
  qz_thread_t me = qz_self();
  for (int k = 0; k < 1000; k++) {
    struct asks inner = {k % 7, k & 1, k & 2, {0}};
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, asks, &inner);
    qz_sync(&scope);
    CHECK(qz_equal(me, qz_self()));
    CHECK(!qz_equal(me, inner.self));
  }
}

/* ---- waiting ---- */

static qz_future future;
static qz_channel channel;
static qz_mutex mutex = QZ_MUTEX_INIT;
static int inside, ended;
static void sets(void *argument) {
  (void)argument;
  qz_future_set(&future, &ended);
}
static void gets(void *argument) {
  (void)argument;
  void *value;
  CHECK(qz_future_get(&future, &value) == 0 && value == &ended);
  ended++;
}
/* A task in a task waits for what only a task that has not begun does. */
static void nested(void *argument) {
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, gets, argument);
  qz_sync(&scope);
  CHECK(ended == 1);
  ended++;
}
static void sends(void *argument) {
  for (long k = 0; k < 100; k++) qz_channel_send(&channel, &k);
}
static void receives(void *argument) {
  long *sum = argument;
  for (long k = 0, item; k < 100; k++) {
    qz_channel_receive(&channel, &item);
    *sum += item;
  }
}
static void locks(void *argument) {
  qz_mutex_lock(&mutex);
  CHECK(inside++ == 0);
  qz_yield();
  CHECK(inside-- == 1);
  qz_mutex_unlock(&mutex);
}
static void waits(void) {
  for (int k = 0; k < 50; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    ended = 0;
    qz_future_init(&future, NULL);
    qz_spawn(&scope, sets, NULL);
    qz_spawn(&scope, nested, NULL);
    qz_sync(&scope);
    CHECK(ended == 2);
    qz_future_destroy(&future);
    long sum = 0;
    qz_channel_init(&channel, NULL, sizeof(long), 1);
    qz_spawn(&scope, sends, NULL);
    qz_spawn(&scope, receives, &sum);
    qz_sync(&scope);
    CHECK(sum == 4950);
    qz_channel_destroy(&channel);
    for (int n = 0; n < 20; n++) qz_spawn(&scope, locks, NULL);
    qz_sync(&scope);
  }
}

/* ---- ending ---- */

static int deeper(int left, bool asks_first) {
  if (left == 0) {
    if (asks_first) (void)qz_self();
    if (ended == 0) qz_exit(NULL);
    return 1;
  }
  return deeper(left - 1, asks_first) + left;
}
static void exits(void *argument) {
  int value = deeper(9, argument != NULL);
  __atomic_fetch_add(&ended, value, __ATOMIC_RELAXED);
}
static void exits_twice(void *argument) {
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, exits, argument);
  qz_spawn(&scope, exits, NULL);
  qz_sync(&scope);
  qz_exit(argument);
}
static void ends(void) {
  long a = random(), b = random(), c = random(), d = random(), e = random(), f = random(), sum = a + b + c + d + e + f;
  ended = 0;
  for (int k = 0; k < 200; k++) { /* TSan has room for that many frames that are left */
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, exits_twice, (void *)(intptr_t)(k & 1));
    qz_sync(&scope);
  }
  CHECK(ended == 0);
  CHECK(a + b + c + d + e + f == sum); /* what the compiler keeps in registers */
}

/* ---- more than there may be threads ---- */

static void yields(void *argument) {
  qz_yield();
  __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}
static void *creates(void *argument) { return argument; }
static void limits(void) {
  ended = 0;
  for (int round = 0; round < 20; round++) {
    qz_scope scope = QZ_SCOPE_INIT;
    qz_thread_t thread[20];
    int made = 0;
    for (int k = 0; k < 300; k++) {
      qz_spawn(&scope, yields, NULL);
      if (made < 20 && qz_create(&thread[made], NULL, creates, NULL) == 0) made++;
    }
    qz_sync(&scope);
    for (int k = 0; k < made; k++) CHECK(qz_join(thread[k], NULL) == 0);
  }
  CHECK(ended == 6000);
}

/* ---- taken by others, while their parent spawns more, and among threads ---- */

enum { BRANCHES = 4, DEPTH = 6 };
static long nodes, threads;
static void *counts(void *argument) {
  __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
  return argument;
}
static void grows(void *argument) {
  long depth = (long)(intptr_t)argument;
  long number = __atomic_add_fetch(&nodes, 1, __ATOMIC_RELAXED);
  if (depth == 0) return;
  qz_scope scope = QZ_SCOPE_INIT;
  for (int k = 0; k < BRANCHES; k++) {
    qz_spawn(&scope, grows, (void *)(intptr_t)(depth - 1));
    if (number % 50 == k) /* long enough that others arrive */
      for (volatile int n = 0; n < 5000; n++) continue;
    if (depth == 2 && k == 1) CHECK(qz_thread_create(NULL, &(qz_thread_attr){.detached = 1}, counts, NULL) == 0);
    if (number % 97 == k) qz_yield();
  }
  qz_sync(&scope);
}
static void taken(void) {
  long all = 0, level = 1, made = 0;
  for (int depth = DEPTH; depth >= 0; depth--, level *= BRANCHES) {
    all += level;
    if (depth == 2) made = level;
  }
  for (int round = 1; round <= 3; round++) {
    nodes = 0;
    grows((void *)(intptr_t)DEPTH);
    CHECK(nodes == all);
    while (__atomic_load_n(&threads, __ATOMIC_RELAXED) < round * made) qz_yield();
  }
}

/* ---- taken all by others, while their parent keeps its processor: each is what it would be alone, but most of them
 * run on the same few stacks ---- */

enum { TAKEN = 1000 };
static struct taken_call {
  int kind;
  qz_thread_t self;
  uintptr_t stack;
  int rounding;
} taken_calls[TAKEN];
static int running;
static void is_taken(void *argument) {
  struct taken_call *own = argument;
  char here;
  own->stack = (uintptr_t)&here >> 14;
  own->rounding = fegetround();
  if (own->kind == 1) own->self = qz_self();
  if (own->kind == 2) qz_yield();
  if (own->kind == 3) locks(NULL);
  if (own->kind == 4) fesetround(FE_UPWARD);
  if (own->kind == 5) asks(&(struct asks){3, true, true, {0}});
  __atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
  if (own->kind == 6) qz_exit(NULL);
}
static int ascending(const void *a, const void *b) {
  uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
  return (x > y) - (x < y);
}
static void taken_all(bool changing) {
  if (qz_processors() == 1) return;
  for (int round = 0; round < 3; round++) {
    int kinds = round == 0 ? 1 : 7;
    qz_scope scope = QZ_SCOPE_INIT;
    running = TAKEN;
    for (int k = 0; k < TAKEN; k++) {
      taken_calls[k] = (struct taken_call){.kind = k % kinds};
      qz_spawn(&scope, is_taken, &taken_calls[k]);
    }
    while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) > 0) sched_yield();
    qz_sync(&scope);
    static uintptr_t stack[TAKEN];
    for (int k = 0; k < TAKEN; k++) {
      CHECK(taken_calls[k].rounding == FE_TONEAREST);
      stack[k] = taken_calls[k].stack;
      if (k >= kinds && taken_calls[k].kind == 1) CHECK(!qz_equal(taken_calls[k].self, taken_calls[k - kinds].self));
    }
    if (kinds > 1) continue;
    qsort(stack, TAKEN, sizeof *stack, ascending);
    int stacks = 1;
    for (int k = 1; k < TAKEN; k++) stacks += stack[k] != stack[k - 1];
    CHECK(changing || stacks < TAKEN / 4); /* else all become threads at once */
  }
}

/* ---- deep, and many ---- */

enum { DEEP = 3000, MANY = 2500, DEPTH_OF_MAKERS = 4 };
static long sum_of_deep;
/* More calls in place, one in another, than there may be tasks. */
static void goes_deep(void *argument) {
  long depth = (long)(intptr_t)argument;
  qz_scope scope = QZ_SCOPE_INIT;
  if (depth > 0) qz_spawn(&scope, goes_deep, (void *)(intptr_t)(depth - 1));
  qz_sync(&scope);
  __atomic_fetch_add(&sum_of_deep, depth, __ATOMIC_RELAXED);
}
static void adds(void *argument) { __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELAXED); }
/* A task creates so many threads that the queue of the processor grows, and ends before they begin. */
static void makes(void *argument) {
  long depth = (long)(intptr_t)argument;
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, adds, &ended);
  if (depth > 0) qz_spawn(&scope, makes, (void *)(intptr_t)(depth - 1));
  qz_sync(&scope);
  for (int k = 0; k < (depth ? 3 : MANY); k++)
    CHECK(qz_thread_create(NULL, &(qz_thread_attr){.detached = 1}, counts, NULL) == 0);
}
static void many(void) {
  for (int round = 0; round < 2; round++) {
    sum_of_deep = 0;
    goes_deep((void *)(intptr_t)DEEP);
    CHECK(sum_of_deep == (long)DEEP * (DEEP + 1) / 2);
    qz_scope scope = QZ_SCOPE_INIT;
    ended = 0;
    for (int k = 0; k < MANY; k++) qz_spawn(&scope, yields, NULL); /* more than there may be tasks */
    qz_sync(&scope);
    CHECK(ended == MANY);
    ended = 0;
    threads = 0;
    qz_thread_t me = qz_self();
    qz_spawn(&scope, makes, (void *)(intptr_t)DEPTH_OF_MAKERS);
    qz_sync(&scope);
    CHECK(qz_equal(me, qz_self()) && ended == DEPTH_OF_MAKERS + 1);
    while (__atomic_load_n(&threads, __ATOMIC_RELAXED) < MANY + 3 * DEPTH_OF_MAKERS) qz_yield();
  }
}

/* ---- fork ---- */

static void forks(void *argument) {
  pid_t child = fork();
  if (child == 0) {
    qz_thread_t self = qz_self();
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, yields, NULL);
    qz_sync(&scope);
    _exit(qz_equal(self, qz_self()) ? 7 : 8);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
static void forked(void) {
  qz_scope scope = QZ_SCOPE_INIT;
  for (int k = 0; k < 3; k++) {
    qz_spawn(&scope, forks, NULL);
    qz_sync(&scope);
  }
}

/* ---- while what is published changes ---- */

/* In a program of its own: ThreadSanitizer lets no threads begin in a forked child, where publishing ends by one. */
static pid_t others(void) {
  pid_t child;
  char me[32], *arguments[] = {"core_tasks", "attaches", me, NULL};
  snprintf(me, sizeof me, "%ld", (long)getpid());
  CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
  return child;
}
static void attaches_often(pid_t program) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (unsigned k = 0;; k++) {
    close(connect_to(program));
    usleep(500 + k % 7 * 300);
    close(connection);
    usleep(200 + k % 5 * 300);
  }
}

int main(int count, char **arguments) {
  pid_t other = 0;
  if (count > 1 && !strcmp(arguments[1], "fork")) {
    forked();
    return 0;
  }
  if (count > 2 && !strcmp(arguments[1], "attaches")) attaches_often((pid_t)atol(arguments[2]));
  if (count > 1 && !strcmp(arguments[1], "published")) attach();
  if (count > 1 && !strcmp(arguments[1], "spanned")) attach_for(BENCH_SPAN);
  if (count > 1 && !strcmp(arguments[1], "changing")) other = others();
  identities();
  waits();
  ends();
  limits();
  if (!getenv("QUARTZ_MAX_THREADS")) { /* their threads are not refused */
    taken();
    taken_all(other != 0);
    many();
  }
  if (other) {
    int status;
    CHECK(waitpid(other, &status, WNOHANG) == 0); /* it has attached whenever it wanted to */
    kill(other, SIGKILL);
  }
  return 0;
}
