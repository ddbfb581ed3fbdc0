/* What a reader of the session sees of tasks, i.e. of spawned calls that are no threads of the package: the same as of
 * threads. On one processor; the program attaches to itself.
 *
 *   core_published_tasks [spanned]
 * spanned: the same while work and span are recorded, and what these are. */
#define _GNU_SOURCE
#include <quartz/quartz.h>
#include <errno.h>
#include <stdbool.h>
#include "test/support/attach.h"

enum { DEPTH = 5, ROUNDS = 300, MANY = 100 };

struct seen {
  uint32_t index;
  uint64_t serial;
};
static struct seen running(void) {
  uint64_t now = qz_session_processor(&view, 0)->now;
  CHECK_IS(QZ_NOW_STATE(now), QZ_STATE_USEFUL);
  uint32_t index = QZ_NOW_THREAD_PLUS_1(now) - 1;
  return (struct seen){index, qz_session_thread(&view, index)->serial};
}
static uint64_t keys[4096];
static uint32_t stack_of(uint32_t index) {
  struct qz_stack_copy copy;
  CHECK(qz_session_copy_stack(&view, qz_session_thread(&view, index), keys, 0, &copy) && !copy.invalid);
  return copy.depth;
}

static uint64_t last_serial;
static long calls;

/* A call in place at each depth: its record, that of its caller, and that it stays the same when it becomes a thread.
 */
struct call {
  int depth;
  bool asks;
  struct seen caller;
};
static void called(void *argument) {
  const struct call *own = argument;
  struct seen me = running();
  const struct qz_thread *record = qz_session_thread(&view, me.index),
                         *caller = qz_session_thread(&view, own->caller.index);
  calls++;
  CHECK(me.serial > last_serial); /* each call has its own */
  last_serial = me.serial;
  CHECK_IS(record->start, (uintptr_t)called);
  CHECK_IS(record->creator, own->caller.index + 1);
  CHECK(record->create_site != 0);
  CHECK_IS(QZ_STATE_OF(record->state), QZ_STATE_USEFUL);
  uint32_t depth = stack_of(me.index);
  CHECK(depth > 0 && keys[depth - 1] == (uintptr_t)called);
  CHECK_IS(caller->serial, own->caller.serial);
  CHECK_IS(QZ_STATE_OF(caller->state), QZ_STATE_BLOCKED);
  depth = stack_of(own->caller.index);
  CHECK_IS(QZ_KEY_KIND(keys[depth - 1]), QZ_KIND_JOIN);
  CHECK_IS(QZ_STATE_OBJECT(caller->state), QZ_KEY_INDEX(keys[depth - 1]));
  if (own->asks) CHECK_IS(qz_self().serial, me.serial);
  if (own->depth > 0) {
    struct call inner = {own->depth - 1, !own->asks, me};
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, called, &inner);
    qz_sync(&scope);
  }
  struct seen after = running();
  CHECK(after.index == me.index && after.serial == me.serial);
  CHECK_IS(QZ_STATE_OF(record->state), QZ_STATE_USEFUL);
  CHECK_IS(stack_of(me.index), record->base + (record->base == 0 || keys[record->base - 1] != (uintptr_t)called));
}

static void nothing(void *argument) { (void)argument; }

/* Spawns at one place: records are used again only for what they were filled for. */
struct other {
  uintptr_t start;
  const char *name;
  uint32_t creator;
  uint64_t path; /* key of the creator's innermost procedure */
};
static void check_other(const struct other *own, uintptr_t start) {
  struct seen me = running();
  const struct qz_thread *record = qz_session_thread(&view, me.index);
  char name[64] = "";
  CHECK_IS(own->start, start);
  CHECK_IS(record->start, start);
  CHECK_IS(record->creator, own->creator);
  if (own->name)
    CHECK(qz_session_string(&view, record->name, name, sizeof name) && !strcmp(name, own->name));
  else
    CHECK_IS(record->name, 0);
  uint32_t depth = stack_of(me.index);
  CHECK(depth > 0 && keys[depth - 1] == start);
  CHECK_IS(depth > 1 ? keys[depth - 2] : 0, own->path);
}
static void first(void *argument) { check_other(argument, (uintptr_t)first); }
static void second(void *argument) { check_other(argument, (uintptr_t)second); }
__attribute__((noinline)) static void spawns_both(const char *name, int rounds) {
  uint32_t me = running().index + 1;
  uint64_t path = keys[stack_of(me - 1) - 1];
  for (int k = 0; k < rounds; k++) {
    struct other a = {(uintptr_t)first, name, me, path}, b = {(uintptr_t)second, name, me, path};
    qz_scope scope = QZ_SCOPE_INIT;
    for (int which = 0; which < 2; which++) {
      void (*start)(void *) = (which ^ k) & 1 ? first : second;
      void *argument = start == first ? &a : &b;
      if (name)
        qz_spawn_named(&scope, name, start, argument);
      else
        qz_spawn(&scope, start, argument);
    }
    qz_sync(&scope);
  }
}
/* One procedure alone, so that only the creator differs from one round to the next. */
__attribute__((noinline)) static void spawns_one(int rounds) {
  uint32_t me = running().index + 1;
  struct other one = {(uintptr_t)first, NULL, me, keys[stack_of(me - 1) - 1]};
  for (int k = 0; k < rounds; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    for (int n = 0; n < 3; n++) qz_spawn(&scope, first, &one);
    qz_sync(&scope);
  }
}
/* The same from tasks, which are the innermost procedures of the paths. */
static void spawner(void *argument) {
  spawns_one(2);
  spawns_both(argument, 3);
}
static void other_spawner(void *argument) {
  spawns_one(2);
  spawns_both(argument, 3);
}

/* A thread that a call in place creates: the call, not the thread on whose stack it runs, is its creator. */
static void *created(void *argument) {
  check_other(argument, (uintptr_t)created);
  return NULL;
}
static void creates(void *argument) {
  qz_thread_t thread;
  struct other own = {(uintptr_t)created, NULL, running().index + 1, (uintptr_t)creates};
  if (argument) { /* a call in a call */
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, creates, NULL);
    qz_sync(&scope);
  }
  CHECK_IS(qz_create(&thread, NULL, created, &own), 0);
  CHECK_IS(qz_join(thread, NULL), 0);
}
static void creators(void) {
  for (int k = 0; k < 10; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, creates, k % 2 ? &scope : NULL);
    qz_sync(&scope);
  }
  CHECK_IS(calls_to((uintptr_t)created), calls_to((uintptr_t)creates));
}

static uint64_t joins(void) {
  qz_sleep_ns(1); /* the processor leaves its thread, and writes them */
  uint64_t sum = 0;
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    const struct qz_object *object_at = qz_session_object(&view, k);
    if (object_at->kind == QZ_KIND_JOIN) sum += object_at->acquisitions;
  }
  return sum;
}
static void places(void) {
  uint64_t before = joins();
  long spawned = 0;
  for (int k = 0; k < 100; k++) {
    spawns_both(k % 3 ? NULL : "named", 5);
    spawns_one(2);
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, k & 1 ? spawner : other_spawner, k % 5 ? NULL : "named");
    qz_sync(&scope);
    spawned += 2 * 5 + 2 * 3;
  }
  CHECK_IS(calls_to((uintptr_t)first), spawned / 2 + 100 * 3 * (2 + 2));
  CHECK_IS(calls_to((uintptr_t)second), spawned / 2);
  CHECK_IS(calls_to((uintptr_t)spawner) + calls_to((uintptr_t)other_spawner), 100);
  CHECK_IS(joins() - before, spawned + 100 * 3 * (2 + 2) + 100);
}

/* Joins of threads that have ended are counted, each once. */
static void *returns(void *argument) { return argument; }
static void joined_later(void) {
  enum { TOGETHER = 10 };
  uint64_t before = joins();
  for (int round = 0; round < ROUNDS; round++) {
    qz_thread_t threads[TOGETHER];
    for (int k = 0; k < TOGETHER; k++) CHECK_IS(qz_create(&threads[k], NULL, returns, &threads[k]), 0);
    qz_sleep_ns(1); /* they run, and end */
    for (int k = 0; k < TOGETHER; k++) {
      void *result = NULL;
      CHECK(qz_join(threads[k], &result) == 0 && result == &threads[k]);
      CHECK_IS(qz_join(threads[k], NULL), ESRCH);
    }
  }
  CHECK_IS(joins() - before, TOGETHER * ROUNDS);
}

/* Each call that has ended is counted at its site, once, and where its parent waited for it; work at each length of the
 * chain adds up to all work. */
static void work_and_span(void) {
  const struct qz_span *span = (const void *)(view.base + view.span_table.offset);
  uint64_t ended = 0, merged = 0, merges = 0, lost = 0, work = 0;
  for (unsigned k = 0; k < QZ_SPAN_SITES; k++) {
    const struct qz_site *site = &span->sites[k];
    ended += site->top_count + site->inner_count;
    merged += site->merged;
    merges += site->merges;
    lost += site->lost;
    CHECK(site->top_span <= site->top_work && site->inner_span <= site->inner_work);
    CHECK(!site->lost || site->least_slack_plus_1);
  }
  for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++) work += span->levels[k];
  CHECK_IS(ended, qz_session_processor(&view, 0)->spawns);
  CHECK_IS(merged, ended);
  CHECK(merges <= merged && lost <= merged);
  CHECK_IS(work, span->work);
  CHECK(span->strands >= 2 * ended);
}

int main(int count, char **arguments) {
  bool spanned = count > 1 && !strcmp(arguments[1], "spanned");
  attach_for(spanned ? BENCH_SPAN : BENCH_PUBLISHING);
  const struct qz_processor *processor = qz_session_processor(&view, 0);
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, nothing, NULL); /* main has a record from now on, and the deque is open */
  qz_sync(&scope);
  struct seen me = running();
  uint64_t spawns = processor->spawns;
  for (int round = 0; round < ROUNDS; round++) {
    struct call outer = {round % DEPTH, round & 1, me};
    qz_spawn(&scope, called, &outer);
    qz_sync(&scope);
  }
  CHECK_IS(processor->spawns - spawns, calls);
  CHECK_IS(calls_to((uintptr_t)called), calls);
  CHECK_IS(processor->enqueued, processor->dequeued);

  /* tasks that wait are ready threads, and those that have ended are none */
  uint32_t ready = 0, alive = 0;
  for (int k = 0; k < MANY; k++) qz_spawn(&scope, nothing, NULL);
  for (uint32_t k = 0; k < qz_session_thread_high(&view); k++)
    if (qz_session_thread(&view, k)->serial) ready += QZ_STATE_OF(qz_session_thread(&view, k)->state) == QZ_STATE_READY;
  CHECK_IS(ready, MANY);
  CHECK_IS(processor->enqueued - processor->dequeued, MANY);
  qz_sync(&scope);
  for (uint32_t k = 0; k < qz_session_thread_high(&view); k++) alive += qz_session_thread(&view, k)->serial != 0;
  CHECK_IS(alive, 1);
  CHECK_IS(calls_to((uintptr_t)nothing), MANY + 1);
  places();
  joined_later();
  creators();
  struct seen after = running();
  CHECK(after.index == me.index && after.serial == me.serial);
  if (spanned) work_and_span();
  return 0;
}
