/* Strands: the time that a thread spends between two events, added to the lengths of its chains.
 *
 * Owns:    struct qzi_span_actor, the data that a processor (pthread layer: a thread) keeps for that.
 * Writer and reader: the kernel thread that is the processor.
 * Must not: be included outside publisher/, except through span_tasks.h.
 */
#ifndef QZI_STRANDS_H
#define QZI_STRANDS_H

#include "crumbs.h"
#include "span_data.h"
#include "span_clock.h"
#include "span_sites.h"
#include "what_if.h"
#ifndef QZI_PUB_ONE_THREAD
#include "record_at.h"
#endif

#define KINDS       64u /* kinds of strands, by where they end */
#define KIND_NONE   KINDS
#define KIND_FIRST  16u /* strands after which it is computed what is usual for a kind; again at each crumb */
#define LEVEL_LEAST 10u /* a level is initially 2^this ticks */

/* Strands of one kind: the distribution of their time, and the length above which there is almost none of it. */
struct kind {
  uint64_t usual;    /* that length; 0 while it is not known */
  uint64_t work[63]; /* ticks by power of two of the strand's length, which is less than 2^63 */
};
/* The kind of strands that end at an address. */
static inline unsigned kind_at(uint64_t address) { return (unsigned)(address * QZ_HASH_FACTOR >> 58); }
struct qzi_span_actor {
  struct qz_span *record;
  struct qzi_span *task;  /* of the task that runs; NULL: a thread runs, or none */
  struct qz_path *crumbs; /* crumbs of the span */
  struct qz_path *path;   /* crumbs of the time path */
  uint64_t index;
  uint64_t since;                /* start of the running strand, by the clock below */
  uint64_t seen;                 /* the clock page's time at that moment, or at the last crumb */
  uint64_t begun;                /* for a thread that runs when recording begins: that time, */
  uint64_t begun_waited;         /* and how long its kernel thread had waited for CPUs by then, ns, + 1; 0: unknown */
  uint32_t epoch;                /* epoch in which `since` was set, */
  uint32_t made;                 /* and epoch in which this struct was made */
  uint64_t level_from, level_to; /* range of lengths of `level` */
  uint64_t *level;
  struct qzi_site_near waits[QZI_SITES_NEAR];
  struct qzi_spawn_near spawns[QZI_SITES_NEAR];
  uint64_t kinds_known;      /* one bit per kind: it is known what is usual; */
  uint8_t kinds_seen[KINDS]; /* the number of strands until then, without those that took no time */
  struct kind kinds[KINDS];
};

#pragma GCC visibility push(hidden)
extern uint64_t qzi_span_burden; /* in ticks: from a spawn until the thread runs on another processor */
/* Initializes the span data of a thread, or task, that existed before the recording began: it began with `start`, and
 * was created at `site`. */
void qzi_span_of_epoch(struct qzi_span *span, uint64_t start, uint64_t site);
void qzi_span_crumb(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t time);
void qzi_span_add_levels(struct qzi_span_actor *actor, struct qz_span *record, uint64_t from, uint64_t to);
/* Returns how much of a strand counts that is longer than usual: the distribution may have changed since that was
 * computed. */
uint64_t qzi_span_unusual(struct qzi_span_actor *actor, unsigned kind, uint64_t ticks);
/* Adds the caller's waits for CPUs to the session. Rarely called. */
void qzi_span_note_waits(struct qzi_span_actor *actor);
#pragma GCC visibility pop

/* ---- the thread of a strand ---- */

static inline struct qzi_span *of_thread(const struct qzi_pub_thread *t) {
  return (struct qzi_span *)(void *)((char *)(uintptr_t)t + qzi_span_offset);
}
/* The same; a thread that existed before the recording began is initialized. */
static inline struct qzi_span *of_epoch(const struct qzi_pub_thread *t) {
  struct qzi_span *span = of_thread(t);
  if (__builtin_expect(span->epoch != qzi_pub_epoch, 0)) qzi_span_of_epoch(span, t->start, t->create_site);
  return span;
}

/* Returns the thread that the caller is; NULL: none. */
static inline struct qzi_pub_thread *current(struct qzi_publisher *p) {
  char *at = (char *)p + qzi_current_offset;
#ifdef QZI_PUB_ONE_THREAD
  return (struct qzi_pub_thread *)(void *)at;
#else
  char *thread = *(char **)(void *)at;
  return thread ? (struct qzi_pub_thread *)(void *)(thread + qzi_current_pub) : NULL;
#endif
}

/* What p records work and span by; NULL: it records none. To be loaded once in each function: the next connection may
 * be of another kind, and what is recorded then by the last functions of the one before is of no use, but must find
 * its place. */
static inline struct qzi_span_actor *actor_of(const struct qzi_publisher *p) {
  return __atomic_load_n(&p->span, __ATOMIC_ACQUIRE);
}

/* Returns the data of the thread, or task, whose strand runs; NULL also without an actor. */
static inline struct qzi_span *running(struct qzi_publisher *p, struct qzi_span_actor *actor) {
  if (actor && actor->task) return actor->task;
  struct qzi_pub_thread *t = actor ? current(p) : NULL;
  if (!t) return NULL;
  if (__builtin_expect(actor->epoch != qzi_pub_epoch, 0)) { /* it was running when the recording began */
    actor->epoch = qzi_pub_epoch;
    if (actor->begun_waited) {
      qzi_span_cpu.waited_ns = actor->begun_waited - 1;
      qzi_span_cpu.known = true;
    }
    qzi_span_cpu.complete = false;
    actor->since = actor->begun - qzi_span_cpu.lost;
    qzi_span_cpu.noted = qzi_span_cpu.lost;
    actor->seen = 0;
  }
  return of_epoch(t);
}

#ifndef QZI_PUB_ONE_THREAD
static inline bool qzi_span_is_task(const struct qzi_span *span) {
  return (uintptr_t)span - (uintptr_t)qzi_span_tasks < qzi_span_tasks_bytes;
}
static inline const struct qz_thread *qzi_span_task_record(const struct qzi_span *span) {
  return qzi_pub_record_at((uint32_t)((const struct qzi_span_task *)(const void *)span - qzi_span_tasks) + 1);
}
#endif

/* ---- lengths ---- */

/* Sets each lane of `to` to the maximum of both. `without`: bits of what-if queries in which `from` does not precede
 * `to`. */
static inline void longest(struct qzi_lanes *to, const struct qzi_lanes *from, unsigned without) {
  /* without branches, since which one is longer is unpredictable */
  to->crumb ^= (to->crumb ^ from->crumb) & -(uint64_t)(from->length > to->length);
  to->length = from->length > to->length ? from->length : to->length;
  to->burdened = from->burdened > to->burdened ? from->burdened : to->burdened;
  to->typical = from->typical > to->typical ? from->typical : to->typical;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    uint64_t its = without & 1u << k ? 0 : from->what_if[k];
    to->what_if[k] = its > to->what_if[k] ? its : to->what_if[k];
  }
}

/* ---- the length of a strand ---- */

/* Adds work that was done while the length of the chain grew from `from` to `to`. */
static inline void add_levels(struct qzi_span_actor *actor, struct qz_span *record, uint64_t from, uint64_t to) {
  if (__builtin_expect(from >= actor->level_from && to < actor->level_to, 1)) {
    qzi_pub_more(actor->level, to - from);
    return;
  }
  qzi_span_add_levels(actor, record, from, to);
}

/* Returns the strand's time, limited to what is usual for strands of its kind. */
static inline uint64_t typical(struct qzi_span_actor *actor, unsigned number, uint64_t ticks) {
  if (number == KIND_NONE) return ticks;
  struct kind *kind = &actor->kinds[number];
  qzi_pub_more(&kind->work[(uint64_t)__builtin_clzll(ticks | 1) ^ 63], ticks);
  return __builtin_expect(ticks <= kind->usual, 1) ? ticks : qzi_span_unusual(actor, number, ticks);
}

/* The running thread's strand ends, and the next one begins. For the most frequent events. */
static inline __attribute__((always_inline)) void cut_here(struct qzi_span_actor *actor, struct qzi_span *span,
                                                           uint64_t now, unsigned kind) {
  struct qz_span *record = actor->record;
  /* without a branch: strands near the clock's resolution have 0 ticks or one step, unpredictably */
  uint64_t since = actor->since + qzi_span_clock_cost, from = span->now.length;
  uint64_t ticks = (int64_t)(now - since) > 0 ? now - since : 0;
  actor->since = now;
  span->now.length = from + ticks;
  span->now.burdened += ticks;
  span->now.typical += typical(actor, kind, ticks);
  span->work += ticks;
  qzi_pub_more(&record->work, ticks);
  qzi_pub_increment(&record->strands);
  add_levels(actor, record, from, from + ticks);
  qzi_what_if_strand(span, record, ticks);
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
