/* What a wait publishes where all is as usual (qzl_is_usual) and its object has a record of its own: each condition is
 * tested once, and nothing is called. waits.c does the same in all cases.
 *
 * Owns:    nothing: it is in the thread (thread.h). Writer and reader: the calling thread.
 * Must not: be used for an object without a record of its own (index 0 or QZI_PUB_SHARED).
 */
#ifndef QZL_USUAL_WAITS_H
#define QZL_USUAL_WAITS_H

#include "path.h"
#include "thread.h"

#pragma GCC visibility push(hidden)
/* When the next waiting thread is to look whether the sampler is still there, in ticks; it does so. errno stays. */
extern uint64_t qzl_look_due;
void qzl_look_at_channel(uint64_t now);
/* The rest of qzl_wait_count: the time to look, or a wait longer than any before. */
void qzl_wait_count_rest(struct qz_object *object, uint64_t ns, uint64_t now);
#pragma GCC visibility pop

/* The thread's byte in the session: its state has changed. */
static inline void qzl_mark(struct qzl_thread *me) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __atomic_signal_fence(__ATOMIC_RELEASE);
  __asm__ volatile("addb $1, %0" : "+m"(*me->mark) : : "cc");
#else
  __atomic_store_n(me->mark, (unsigned char)(*me->mark + 1), __ATOMIC_RELEASE);
#endif
}

__attribute__((always_inline)) static inline void qzl_wait_usual(struct qzl_wait *wait, struct qzl_thread *me,
                                                                 uint32_t index, uint32_t then, unsigned state) {
  struct qz_thread *record = me->thread.record;
  struct qz_object *object = &qzi_pub_objects[index];
  wait->me = me;
  wait->index = index;
  wait->then = then;
  wait->slot = 0;
  wait->own = false;
  wait->left = __atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED);
  wait->begin = qz_cycles();
  __atomic_store_n(&record->frame, (uint64_t)(uintptr_t)&wait->frame, __ATOMIC_RELEASE);
  if (QZ_STATE_OF(state) == QZ_STATE_BLOCKED) __atomic_fetch_add(&object->queue, 1, __ATOMIC_RELAXED);
  qzi_pub_store(&record->state, QZ_STATE_WORD(state, index));
  qzl_mark(me);
}

/* After a wait. A copy of the process (_Fork) must publish nothing. */
static inline bool qzl_is_usual_still(const struct qzl_thread *me) {
  return qzl_is_usual(me) && __builtin_expect(atomic_load_explicit(&qzi_publishing_flag, QZI_PUBLISHING_ORDER) != 0, 1);
}
/* The state after it, and after the thread has taken over its chain of the time path. */
static inline void qzl_usual_useful(struct qzl_thread *me) {
  qzi_pub_store(&me->thread.record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzl_mark(me);
}

/* How long it took, by the counter. */
static inline uint64_t qzl_usual_ns(const struct qzl_wait *wait, uint64_t now) {
  uint64_t ticks = now - wait->begin;
  if (__builtin_expect((int64_t)ticks < 0, 0)) ticks = 0; /* it was begun on another CPU */
  return (uint64_t)((unsigned __int128)ticks * qzi_pub_ticks_scale() >> 32);
}

/* Who has let the thread go, if somebody has: its chain is the thread's now. */
static inline void qzl_path_usual(const struct qzl_wait *wait, struct qzl_thread *me, const struct qz_object *object) {
  uint64_t ticks = __atomic_load_n(&object->chain[wait->slot].ticks, __ATOMIC_RELAXED);
  bool left = ticks >= wait->begin || (object->kind == QZ_KIND_SEMAPHORE && ticks != wait->left);
  if (left && !wait->own) qzl_path_takes(me, object, wait->slot, QZ_KEY(object->kind, wait->index));
}

/* It is written down when the thread has let the lock go that it has now. */
static inline void qzl_wait_later(struct qzl_thread *me, uint32_t index, uint64_t ns, uint64_t spin_ns) {
  me->waited.index = index;
  me->waited.epoch = qzi_pub_epoch;
  me->waited.ns = ns;
  me->waited.spin_ns = spin_ns;
}
static inline bool qzl_is_look_due(uint64_t now) {
  return __builtin_expect((int64_t)(now - __atomic_load_n(&qzl_look_due, __ATOMIC_RELAXED)) >= 0, 0);
}
static inline void qzl_look_if_due(uint64_t now) {
  if (qzl_is_look_due(now)) qzl_look_at_channel(now);
}
/* It is written down now. Last: what is rare of it is called in place of a return. */
static inline void qzl_wait_count(struct qz_object *object, uint64_t ns, uint64_t spin_ns, uint64_t now) {
  qzi_pub_waited_but_most(object, ns, spin_ns);
  bool rest = __builtin_expect(__atomic_load_n(&object->wait_max_ns, __ATOMIC_RELAXED) < ns, 0) | qzl_is_look_due(now);
  if (__builtin_expect(rest, 0)) qzl_wait_count_rest(object, ns, now);
}

#endif
