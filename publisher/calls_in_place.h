/* A thread that has not started is called by the thread that waits for it: publishes the whole call at once.
 *
 * Owns:    nothing; it makes the same stores as the functions of publisher.h and object_records.h, but tests each
 *          condition only once. In uncommon cases those functions are used.
 * Writer:  the parent, which runs on p, before and after the call.
 * Reader:  thread/thread.c.
 * Must not: be included by a host, which includes publisher.h; its rules apply here too.
 */
#ifndef QZI_PUBLISH_CALLS_IN_PLACE_H
#define QZI_PUBLISH_CALLS_IN_PLACE_H

#include "object_records.h"
#include "switches.h"

static inline bool qzi_pub_is_of(const struct qz_thread *record, uint32_t epoch) {
  return __builtin_expect(record != NULL, 1) && __builtin_expect(record->epoch == epoch, 1);
}
static inline bool qzi_pub_has_room(const struct qz_thread *record) { return qzi_pub_top(record) < record->limit; }

/* Returns whether this is the common case: the threads have records of this epoch, and the time path is recorded. */
static inline bool qzi_pub_usual(const struct qzi_publisher *p, const struct qzi_pub_thread *t, uint32_t epoch) {
  bool publishing = qzi_publishing();
  return __builtin_expect(publishing && p->time_path && p->calls, 1) && qzi_pub_is_of(t->record, epoch);
}
static inline bool qzi_pub_call_usual(const struct qzi_publisher *p, const struct qzi_pub_thread *parent,
                                      const struct qzi_pub_thread *child) {
  uint32_t epoch = qzi_pub_epoch;
  return qzi_pub_usual(p, parent, epoch) && qzi_pub_is_of(child->record, epoch);
}

/* Does the same as qzi_pub_push and qzi_pub_blocked, by the caller whose record it is, with room on its stack. */
static inline void qzi_pub_calls(struct qz_thread *record, uint64_t key) {
  uint32_t top = qzi_pub_top(record);
  struct qz_entry *entry = (struct qz_entry *)((char *)&record->word + top) + 1;
  qzi_pub_fence();
  /* above the top is mostly what was there in the last call: a comparison takes less than a store */
  if (__builtin_expect(entry->key != key, 0)) qzi_pub_store(&entry->key, key);
  if (__builtin_expect(entry->sp != QZI_SP_FIXED, 0)) qzi_pub_store(&entry->sp, QZI_SP_FIXED);
  top += (uint32_t)sizeof *entry;
  QZI_TRACE(stack(record, top));
  qzi_pub_pushed(record, top);
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_BLOCKED));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_BLOCKED, QZ_KEY_INDEX(key)));
}

/* Does the same as qzi_pub_ended, for a child whose record p no longer runs. */
static inline void qzi_pub_call_ended(struct qzi_publisher *p, struct qzi_pub_thread *child) {
  struct qz_thread *record = child->record;
  (void)qzi_path_now(p->time_path); /* the child's strand ends; p is already on the parent's chain */
  QZI_TRACE(thread(record, QZI_ORACLE_END, 0));
  qzi_pub_store(&record->serial, 0);
  qzi_pub_store(&record->state, QZ_STATE_IDLE);
  if (__builtin_expect(p->free_count == QZI_PUB_POOL, 0)) qzi_pub_spill(p);
  p->free[p->free_count++] = child->index_plus_1 - 1;
  child->record = NULL;
  __atomic_store_n(&child->index_plus_1, 0, __ATOMIC_RELAXED);
}

#endif
