/* States of processors and threads.
 *
 * Owns:    nothing. Writer, reader: as publisher.h says, whose rules apply here too.
 * Must not: be included by a host, which includes publisher.h.
 */
#ifndef QZI_PUBLISH_STATES_H
#define QZI_PUBLISH_STATES_H

#include "base.h"

/* The processor continues with the same thread, or none, in another state: QZ_STATE_USEFUL for application code;
 * QZ_STATE_OVERHEAD, QZ_STATE_MAKING or QZ_STATE_WAKING if the package works for longer than a fast path. */
static inline void qzi_pub_state(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) qzi_pub_now(p, state);
}
void qzi_pub_write_joins(struct qzi_publisher *p);
void qzi_pub_forget_joins(struct qzi_publisher *p);
/* The processor has left its thread (after qzi_pub_blocked, ..._ready or ..._ended for that thread): state OVERHEAD
 * while it looks for another, IDLE once it searches without success or parks. */
static inline void qzi_pub_leave(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) {
    qzi_hot_set(NULL);
    if (p->sites_joined) qzi_pub_write_joins(p);
    qzi_pub_now_of(p, 0, state);
  }
}
/* The kernel thread enters a blocking region with its thread (after qzi_pub_io), and leaves the processor. */
static inline void qzi_pub_leave_io(struct qzi_publisher *p) {
  if (qzi_publishing() && p->record) {
    if (p->sites_joined) qzi_pub_write_joins(p);
    qzi_pub_now_of(p, 0, QZ_STATE_IDLE);
  }
}
static inline uint64_t qzi_pub_enqueued_in_all(const struct qzi_publisher *p) {
  return __atomic_load_n(&p->spawns, __ATOMIC_RELAXED) + __atomic_load_n(&p->woken, __ATOMIC_RELAXED);
}
/* Counters; qzi_pub_ready and qzi_pub_queued change `enqueued`, too. Only the processor itself calls these. */
static inline void qzi_pub_enqueued(struct qzi_publisher *p) { /* has made a thread ready (see qzi_pub_ready) */
  qzi_pub_store(&p->woken, p->woken + 1);
  if (qzi_publishing() && p->record) qzi_pub_store(&p->record->enqueued, p->spawns + p->woken);
}
#define QZI_PUB_COUNTER(call, field)                                                        \
  static inline void call(struct qzi_publisher *p) {                                        \
    uint64_t value = p->field + 1;                                                          \
    qzi_pub_store(&p->field, value); /* atomic: the channel may read it at the same time */ \
    if (qzi_publishing() && p->record) qzi_pub_store(&p->record->field, value);             \
  }
QZI_PUB_COUNTER(qzi_pub_dequeued, dequeued) /* took a ready thread to run, from any queue */
QZI_PUB_COUNTER(qzi_pub_switched, switches)
QZI_PUB_COUNTER(qzi_pub_stole, steals)
QZI_PUB_COUNTER(qzi_pub_parked, parks)

/* ---- threads -------------------------------------------------------------------------------------------------- */

/* Returns the record of a thread that the caller runs or holds; initializes it if it has none of this epoch. NULL:
 * no free record (counted). Only while publishing is on. */
static inline struct qz_thread *qzi_pub_record(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(record && record->epoch == qzi_pub_epoch, 1)) return record;
  return qzi_pub_begin(p, t);
}

/* `creator` (NULL for main) has created a thread: takes a record, copies the creator's profile stack, pushes the
 * start routine, and counts the call of it from t->create_site. The state is READY; qzi_pub_ready counts the thread
 * as enqueued when it is put into a queue. */
static inline void qzi_pub_created(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                   const struct qzi_pub_thread *creator) {
  if (qzi_publishing() && p->record) qzi_pub_created_slow(p, t, creator);
}
/* The thread has ended: releases its record, also while nothing is published. */
static inline void qzi_pub_ended(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (__builtin_expect(t->record != NULL, 0)) qzi_pub_give_back(p, t);
}

static inline void qzi_pub_thread_state(struct qzi_publisher *p, struct qzi_pub_thread *t, unsigned state,
                                        uint32_t object) {
  struct qz_thread *record = qzi_pub_record(p, t);
  if (!record) return;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, state));
  qzi_pub_store(&record->state, QZ_STATE_WORD(state, object & ~QZI_PUB_SHARED));
}

/* Processor p starts or continues to run t: application code or (QZ_STATE_MAKING) the package on its behalf. */
static inline __attribute__((always_inline)) void qzi_pub_run_as(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                                 unsigned state) {
  if (!qzi_publishing() || !p->record) return;
  struct qz_thread *record = qzi_pub_record(p, t);
  if (!record) {
    qzi_hot_set(NULL);
    qzi_pub_now_of(p, t->index_plus_1, state);
    return;
  }
  record->calls = (uint64_t)(uintptr_t)p->calls;
#ifdef QZI_PUB_ONE_THREAD
  if (__builtin_expect(!p->calls, 0)) qzi_pub_no_table(record);
#endif
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now_of(p, t->index_plus_1, state);
  /* Publishing may just have ended: the channel clears qzi_hot after a barrier, so one of the two sees the other's
   * store. */
  qzi_hot_set(&record->word);
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline void qzi_pub_run(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  qzi_pub_run_as(p, t, QZ_STATE_USEFUL);
}
/* t is put into a queue of ready threads by p, which is counted. To be called before another processor can take t. */
static inline void qzi_pub_ready(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  uint64_t value = p->woken + 1;
  qzi_pub_store(&p->woken, value);
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_READY, 0);
    qzi_pub_store(&p->record->enqueued, p->spawns + value);
  }
}
/* qzi_pub_created and qzi_pub_ready for a thread that has not started, which is counted as spawned, in one call. */
static inline void qzi_pub_queued(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                  const struct qzi_pub_thread *creator) {
  qzi_pub_increment(&p->spawns);
  if (qzi_publishing() && p->record) qzi_pub_queued_slow(p, t, creator);
}
/* Returns whether the thread has its record. */
static inline bool qzi_pub_known(const struct qzi_pub_thread *t) {
  const struct qz_thread *record = t->record;
  return __builtin_expect(record && record->epoch == qzi_pub_epoch, 1);
}
/* Returns whether the common case is given, for qzi_pub_run_usual and the functions of switches.h. */
static inline bool qzi_pub_may_switch(const struct qzi_publisher *p, const struct qzi_pub_thread *t) {
  return __builtin_expect(p->calls != NULL, 1) && qzi_pub_known(t);
}
static inline __attribute__((always_inline)) void qzi_pub_run_record(struct qzi_publisher *p, struct qz_thread *record,
                                                                     uint64_t thread_plus_1, unsigned state) {
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  uint64_t calls = (uint64_t)(uintptr_t)p->calls;
  if (__builtin_expect(record->calls != calls, 0)) record->calls = calls;
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now_of(p, thread_plus_1, state);
  qzi_hot_set(&record->word); /* as in qzi_pub_run_as */
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline __attribute__((always_inline)) void qzi_pub_run_usual(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                                    unsigned state) {
  qzi_pub_run_record(p, t->record, t->index_plus_1, state);
}
/* t is about to block on an object (index from qzi_pub_object or qzi_pub_site). */
static inline void qzi_pub_blocked(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t object) {
  if (qzi_publishing() && p->record) qzi_pub_thread_state(p, t, QZ_STATE_BLOCKED, object);
}
/* t enters a blocking region; another kernel thread will run p. Hooks continue to work, on their slow path. */
static inline void qzi_pub_io(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) qzi_pub_io_slow(p, t);
}

/* t has left its blocking region and waits for a processor; the caller is not on a processor. */
static inline void qzi_pub_io_over(struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (!qzi_publishing() || !record || record->epoch != qzi_pub_epoch) return;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
}

#endif
