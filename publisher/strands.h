/* Strands: the time that a thread spends between two events, added to the lengths of its chains.
 *
 * Owns:    struct qzi_span_actor, what a processor (pthread layer: a thread) keeps for that.
 * Writer and reader: the kernel thread that is the processor.
 * Must not: be included outside publisher/.
 */
#ifndef QZI_STRANDS_H
#define QZI_STRANDS_H

#include "span_clock.h"
#include "span_sites.h"
#include "what_if.h"

#define KINDS       64u  /* of strands, by where they end */
#define KIND_RENEW  256u /* strands after which the cap of a kind is found anew, */
#define KIND_FIRST  16u  /* and after which it is found for the first time */
#define LEVEL_LEAST 10u  /* a level is 2^this ticks at first */

/* Strands of one kind: how their time is distributed, and above which length next to nothing of it lies. */
struct kind {
  uint64_t cap, seen;
  uint64_t work[64]; /* by power of two */
};
struct qzi_span_actor {
  struct qz_span *record;
  struct qz_path *crumbs; /* of the span */
  struct qz_path *path;   /* the time path's */
  uint64_t index;
  uint64_t since;        /* when the strand that runs began, by the clock below */
  uint64_t seen;         /* the clock page's time then, or when the strand was looked at last */
  uint64_t begun;        /* for a thread that runs then: when recording began, */
  uint64_t begun_waited; /* and how long its kernel thread had waited for CPUs until then, ns, + 1; 0: not known */
  uint32_t epoch;        /* in which `since` was set, */
  uint32_t made;         /* and all this */
  uint64_t level_from, level_to; /* the lengths that `level` is of */
  uint64_t *level;
  struct qzi_site_near near[2]; /* the place that spawned last, and that waited last */
  struct kind kinds[KINDS];
};

#pragma GCC visibility push(hidden)
/* Begins what a thread has of a recording: it was there before that. */
void qzi_span_of_epoch(const struct qzi_pub_thread *t, struct qzi_span *span);
void qzi_span_crumb(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t time);
void qzi_span_add_levels(struct qzi_span_actor *actor, struct qz_span *record, uint64_t from, uint64_t to);
void qzi_span_renew(struct kind *kind);
/* What counts of a strand that is longer than the cap: it may have become usual since that was found. */
uint64_t qzi_span_unusual(struct kind *kind, uint64_t ticks);
/* Adds the caller's waits for CPUs to the session. Seldom. */
void qzi_span_note_waits(struct qzi_span_actor *actor);
#pragma GCC visibility pop

/* ---- whose strand ---- */

static inline struct qzi_span *of_thread(const struct qzi_pub_thread *t) {
  return (struct qzi_span *)(void *)((char *)(uintptr_t)t + qzi_span_offset);
}
/* One that was there before recording began starts there. */
static inline struct qzi_span *of_epoch(const struct qzi_pub_thread *t) {
  struct qzi_span *span = of_thread(t);
  if (__builtin_expect(span->epoch != qzi_pub_epoch, 0)) qzi_span_of_epoch(t, span);
  return span;
}

/* The thread that the caller is; NULL: none. */
static inline struct qzi_pub_thread *current(struct qzi_publisher *p) {
  char *at = (char *)p + qzi_current_offset;
#ifdef QZI_PUB_ONE_THREAD
  return (struct qzi_pub_thread *)(void *)at;
#else
  char *thread = *(char **)(void *)at;
  return thread ? (struct qzi_pub_thread *)(void *)(thread + qzi_current_pub) : NULL;
#endif
}

/* The same, its strand under way. */
static inline struct qzi_span *running(struct qzi_publisher *p) {
  struct qzi_pub_thread *t = current(p);
  struct qzi_span_actor *actor = p->span;
  if (!t) return NULL;
  if (__builtin_expect(actor->epoch != qzi_pub_epoch, 0)) { /* it ran when recording began */
    actor->epoch = qzi_pub_epoch;
    if (actor->begun_waited) {
      qzi_span_cpu.waited_ns = actor->begun_waited - 1;
      qzi_span_cpu.known = true;
    }
    actor->since = actor->begun - qzi_span_cpu.lost;
    qzi_span_cpu.noted = qzi_span_cpu.lost;
    actor->seen = 0;
  }
  return of_epoch(t);
}

/* ---- its length ---- */

/* Work that was done while the chain to it went from `from` to `to`. */
static inline void add_levels(struct qzi_span_actor *actor, struct qz_span *record, uint64_t from, uint64_t to) {
  if (__builtin_expect(from >= actor->level_from && to < actor->level_to, 1)) {
    qzi_pub_store(actor->level, *actor->level + (to - from));
    return;
  }
  qzi_span_add_levels(actor, record, from, to);
}

/* The strand's time as far as is usual where strands end at `key` (0: no such place). */
static inline uint64_t typical(struct qzi_span_actor *actor, uint64_t key, uint64_t ticks) {
  if (!key) return ticks;
  struct kind *kind = &actor->kinds[key * QZ_HASH_FACTOR >> 58];
  kind->work[63 - __builtin_clzll(ticks | 1)] += ticks;
  if (__builtin_expect(++kind->seen % KIND_RENEW == KIND_FIRST, 0)) qzi_span_renew(kind);
  if (__builtin_expect(kind->cap - 1 >= ticks, 1)) return ticks; /* 0: it has none yet */
  return qzi_span_unusual(kind, ticks);
}

/* The running thread's strand ends, and the next one begins. For the events that happen most. */
static inline __attribute__((always_inline)) void cut_here(struct qzi_span_actor *actor, struct qzi_span *span,
                                                           uint64_t now, uint64_t key) {
  struct qz_span *record = actor->record;
  /* Without branches, for strands that are shorter than the clock's step are now 0, now that step. */
  int64_t passed = (int64_t)(now - actor->since - qzi_span_clock_cost);
  uint64_t ticks = (uint64_t)(passed & ~(passed >> 63)), from = span->now.length;
  actor->since = now;
  span->now.length = from + ticks;
  span->now.burdened += ticks;
  span->now.typical += typical(actor, key, ticks);
  span->work += ticks;
  qzi_pub_store(&record->work, record->work + ticks);
  qzi_pub_store(&record->strands, record->strands + 1);
  add_levels(actor, record, from, from + ticks);
  if (__builtin_expect(qzi_what_if_any, 0)) qzi_what_if_strand(span, record, ticks);
  uint64_t time = qzi_path_time();
  if (__builtin_expect(time != actor->seen, 0)) qzi_span_crumb(actor, span, time);
}

/* A strand of the thread begins. */
static inline void begin(struct qzi_span_actor *actor, const struct qzi_span *span, uint64_t now) {
  actor->since = now;
  actor->seen = qzi_path_time();
  actor->epoch = qzi_pub_epoch;
  qzi_pub_store(&actor->crumbs->word, span->now.crumb);
}

#endif
