/* Parallel loops.
 *
 * Owns:    struct loop, which is in the frame of qz_parallel_for.
 * Writer:  all threads of the loop, by atomic operations.
 * Must not: count a call of the body that is not made: the first one of each spawned thread is counted by the spawn
 * (abi/session.h, start_low), so there must be elements for it.
 *
 * With a grain, and where work and span are recorded or there is one processor, a range is halved until it is at most
 * one grain long, and each right half is spawned. Otherwise the elements are divided into one pool for each processor,
 * and one helper is spawned for each further processor. Caller and helpers take parts from the front of their
 * processor's pool, so that a loop over the same elements later finds them in the same caches; then from the back of
 * the others' pools. The parts are small at first, so that thieves, which may have to wait for a part's end, get the
 * helpers, then larger, and small in the end, so that all end together. If the body waits, what is left is halved and
 * spawned instead, so that all parts may wait at the same time.
 */
#include "scope.h"
#include "spawn.h"

#include <string.h>

/* The number of parts for each processor, at least, and up to twice as many: of divided ranges, and of pools. */
#define PARTS      8u
#define POOL_PARTS 128u
#define POOLS      32u

struct pool {
  QZI_LINE _Atomic(uint64_t)
    left; /* the parts that nobody has taken: number of the first one, << 32 | after the last */
};
struct loop {
  void (*body)(int64_t begin, int64_t end, void *argument);
  void *argument;
  uint64_t grain;
  uint64_t site; /* return address of the call of qz_parallel_for; counted as the call site of each call of the body */
  struct pool *pools;
  unsigned pool_count;       /* 0: there are no pools */
  uint64_t parts;            /* of all pools: one grain each; the last one may be shorter */
  int64_t begin, end;        /* the elements of the pools */
  _Atomic(uint64_t) helpers; /* number of those that have begun; one grain for each follows the elements of the pools */
};
struct range {
  struct loop *loop;
  int64_t begin, end; /* equal: of a helper */
};

uintptr_t qzi_range_body(const void *range) { return (uintptr_t)((const struct range *)range)->loop->body; }

static inline int64_t plus(int64_t begin, uint64_t elements) { return (int64_t)((uint64_t)begin + elements); }
static inline uint64_t length(const struct range *range) { return (uint64_t)range->end - (uint64_t)range->begin; }

/* Takes up to `most` parts of a pool, from its front or its back, and at most so large a share of them. */
static bool take_from(struct loop *loop, struct pool *pool, bool front, uint64_t most, uint64_t share,
                      struct range *range) {
  uint64_t left = atomic_load_explicit(&pool->left, memory_order_relaxed), first, after, count, rest;
  do {
    first = left >> 32;
    after = left & UINT32_MAX;
    if (first == after) return false;
    count = (after - first) / share;
    if (count > most) count = most;
    if (count == 0) count = 1;
    rest = front ? left + (count << 32) : left - count;
  } while (
    !atomic_compare_exchange_weak_explicit(&pool->left, &left, rest, memory_order_relaxed, memory_order_relaxed));
  if (!front) first = after - count;
  range->begin = plus(loop->begin, first * loop->grain);
  range->end = first + count == loop->parts ? loop->end : plus(loop->begin, (first + count) * loop->grain);
  return true;
}

/* How many parts are taken at once, at most: begins with one, and doubles; but is limited until all helpers have begun,
 * because thieves wait for an answer, and interrupt who does not give it soon. */
struct pace {
  uint32_t own, others; /* of the processor's own pool; of the others */
};
#define PACE_MOST  UINT32_C(1 << 20)
#define PACE_ALONE 8u
static inline uint32_t faster(const struct loop *loop, uint32_t pace) {
  bool alone = atomic_load_explicit(&loop->helpers, memory_order_relaxed) < qzi_runtime.processor_count - 1;
  uint32_t most = alone ? PACE_ALONE : PACE_MOST;
  return pace < most ? 2 * pace : pace;
}

/* Takes parts, and counts the call of the body for them. All: what is left of a pool, at once. */
static bool take(struct loop *loop, struct range *range, struct pace *pace, bool all) {
  struct qzi_processor *p = qzi_processor_checked();
  if (QZI_UNLIKELY(atomic_load_explicit(&p->revoked, memory_order_relaxed))) { /* so a thief need not interrupt it */
    qzi_enter(p);
    qzi_leave(p);
  }
  unsigned own = p->index % loop->pool_count;
  bool some = take_from(loop, &loop->pools[own], true, all ? UINT32_MAX : pace->own, all ? 1 : 2, range);
  if (some) pace->own = faster(loop, pace->own);
  for (unsigned k = 1; !some && k < loop->pool_count; k++) {
    struct pool *pool = &loop->pools[(own + k) % loop->pool_count];
    some = take_from(loop, pool, false, all ? UINT32_MAX : pace->others, all ? 1 : 2, range);
    if (some) pace->others = faster(loop, pace->others);
  }
  if (some) qzi_pub_count(&p->head.pub, loop->site, (uintptr_t)loop->body);
  return some;
}

/* Calls the body for the range. Returns whether the caller gave up its processor meanwhile. */
static inline __attribute__((always_inline)) bool call_body(const struct range *range) {
  const struct qzi_processor *before = qzi_processor_self();
  uint64_t switches = before->head.pub.switches;
  range->loop->body(range->begin, range->end, range->loop->argument);
  const struct qzi_processor *p = qzi_processor_self();
  return p != before || p->head.pub.switches != switches;
}

/* Calls the body for all elements of the range, whose first call has been counted, then for elements of the pools. */
static inline __attribute__((always_inline)) void run(struct range range) {
  struct loop *loop = range.loop;
  struct qzi_scope scope;
  memset(&scope, 0, sizeof scope);
  struct range right[64];
  unsigned n = 0;
  struct pace pace = {2, 1};
  bool divide = loop->pool_count == 0;
  do {
    while (divide && length(&range) > loop->grain) {
      int64_t middle = plus(range.begin, length(&range) / 2);
      right[n] = (struct range){loop, middle, range.end};
      qzi_spawn_range(&scope, (uintptr_t)loop->body, &right[n++], loop->site);
      range.end = middle;
    }
    divide |= call_body(&range);
    if (loop->pool_count == 0) break;
    if (n > 32) { /* a pool is halved 8 times */
      qzi_sync(&scope, loop->site);
      n = 0;
    }
  } while (take(loop, &range, &pace, divide));
  qzi_sync(&scope, loop->site);
}

/* The start routine of the threads of loops. */
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_run_range(void *arg) {
  struct range range = *(struct range *)arg;
  struct loop *loop = range.loop;
  if (range.begin == range.end) {
    uint64_t helper = atomic_fetch_add_explicit(&loop->helpers, 1, memory_order_relaxed);
    range.begin = plus(loop->end, helper * loop->grain);
    range.end = plus(range.begin, loop->grain);
  }
  run(range);
}
/* In that section too, because what it calls is counted here. */
__attribute__((section("quartz_start"), noinline, noclone)) static void run_divided(struct range range) {
  qzi_pub_count(qzi_publisher_self(), range.loop->site, (uintptr_t)range.loop->body);
  run(range);
}
__attribute__((section("quartz_start"), noinline, noclone)) static void run_pools(struct loop *loop, int64_t end) {
  struct pool pools[POOLS];
  struct range help = {loop, 0, 0}, range = help;
  uint64_t processors = qzi_runtime.processor_count, elements = (uint64_t)end - (uint64_t)loop->begin;
  uint64_t helpers = processors - 1; /* there are more parts than processors */
  loop->end = plus(end, -(helpers * loop->grain));
  elements -= helpers * loop->grain;
  uint64_t parts = loop->parts = (elements - 1) / loop->grain + 1;
  loop->pools = pools;
  loop->pool_count = processors < POOLS ? (unsigned)processors : POOLS;
  for (uint64_t k = 0; k < loop->pool_count; k++)
    atomic_init(&pools[k].left, parts * k / loop->pool_count << 32 | parts * (k + 1) / loop->pool_count);
  struct qzi_scope scope;
  memset(&scope, 0, sizeof scope);
  for (uint64_t k = 0; k < helpers; k++) qzi_spawn_range(&scope, (uintptr_t)loop->body, &help, loop->site);
  if (take(loop, &range, &(struct pace){1, 1}, false)) run(range);
  qzi_sync(&scope, loop->site);
}

void qz_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t, int64_t, void *),
                     void *argument) {
  if (begin >= end) return;
  struct loop loop = {body, argument, (uint64_t)grain, QZI_CALLER(), NULL, 0, 0, begin, end, 0};
  struct range range = {&loop, begin, end};
  bool pools = false;
  if (grain <= 0) {
    uint64_t processors = qzi_runtime.processor_count, elements = length(&range);
    /* few elements are spawned one by one: they may be the threads of a program, which wait for each other */
    pools = processors > 1 && elements >= 2 * PARTS * processors && !qzi_spanning();
    loop.grain = elements / (processors * (pools ? POOL_PARTS : PARTS));
    if (loop.grain == 0) loop.grain = 1;
  }
  if (pools)
    run_pools(&loop, end);
  else
    run_divided(range);
}
