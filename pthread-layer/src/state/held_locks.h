/* What a thread has on its stack: locks, from just before it asks for them, and other objects while it waits for them.
 *
 * Owns:    nothing: it is in the thread (threads.h). Writer and reader: the calling thread.
 */
#ifndef QZL_HELD_LOCKS_H
#define QZL_HELD_LOCKS_H

#include "object_table.h"
#include "abi/hash.h"

#pragma GCC visibility push(hidden)

/* Where that of a place (QZL_PLACE) and an object is, or of a place and its aggregate record (QZL_AGGREGATE). */
static inline struct qzl_cached_lock *qzl_cached_lock(struct qzl_thread *me, uint64_t place, uint64_t address) {
  return &me->cached_locks[((address >> 3) + place) * QZ_HASH_FACTOR >> 56 & (QZL_CACHED_LOCKS - 1)];
}
/* Whether it is that. It then has a record in this recording, and so has the thread. */
static inline bool qzl_is_known(const struct qzl_cached_lock *cached, uint64_t place, uint64_t address,
                                uint32_t generation) {
  return __builtin_expect(cached->place == place, 1) && __builtin_expect(cached->address == address, 1) &&
         __builtin_expect(cached->generation == generation, 1);
}
/* An access. */
static inline void qzl_count_known(struct qzl_thread *me, const struct qzl_cached_lock *cached) {
  qzi_pub_increment(&((struct qz_call *)(void *)((char *)me->counts + cached->call))->count);
}
/* The lock goes on the stack before it is asked for, the access is counted. */
void qzl_ask_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
__attribute__((always_inline)) static inline bool qzl_ask_fast(struct qzl_thread *me, const void *address,
                                                               unsigned kind, uint64_t site) {
  uint64_t at = (uint64_t)(uintptr_t)address, aggregate = 0, of = at, place = QZL_PLACE(site, kind);
  uint32_t generation = __atomic_load_n(&qzl_generation, __ATOMIC_RELAXED);
  if (__builtin_expect(generation & QZL_AGGREGATES, 0)) {
    /* Without a branch: aggregated locks and others come in no order that could be foreseen. */
    aggregate = qzl_in_aggregate(address);
    of = (at & (aggregate - 1)) | aggregate;
  }
  const struct qzl_cached_lock *cached = qzl_cached_lock(me, place, of);
  if (!qzl_is_known(cached, place, of, generation)) return false;
  struct qz_thread *record = me->thread.record;
  uint32_t top = qzi_pub_top(record), count = me->held_count;
  if (__builtin_expect(top >= qzi_pub_limit, 0) || __builtin_expect(count >= QZL_HELD_OWN, 0)) return false;
  me->held_count = count + 1; /* first: a signal handler may take locks, too */
  __atomic_signal_fence(__ATOMIC_ACQ_REL);
  me->held[count].address = at | aggregate;
  __atomic_signal_fence(__ATOMIC_ACQ_REL); /* else the two go through a vector register, which takes longer */
  me->held[count].key = cached->key;
  qzi_pub_put(record, top, cached->key);
  qzl_count_known(me, cached);
  return true;
}
__attribute__((always_inline)) static inline void qzl_ask(struct qzl_thread *me, const void *address, unsigned kind,
                                                          uint64_t site) {
  if (__builtin_expect(!qzl_ask_fast(me, address, kind, site), 0)) qzl_ask_slow(me, address, kind, site);
}
/* Before waiting for a lock that was asked for: it gets a record of its own, under which it then is on the stack. Its
 * index. */
uint32_t qzl_promote(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
/* The same, of the lock that was asked for last, where that is known to have one. */
static inline uint32_t qzl_awaits(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t count = me->held_count;
  const struct qzl_held_lock *last = &me->held[count ? count - 1 : 0];
  if (__builtin_expect(count && last->address == (uint64_t)(uintptr_t)address, 1)) return QZ_KEY_INDEX(last->key);
  return qzl_promote(me, address, kind, site);
}
/* The index and key under which a lock was asked for just now. */
uint64_t qzl_asked(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index);
/* A lock that was asked for, under that index, and not got. */
void qzl_wait_failed(struct qzl_thread *me, uint32_t index, const void *address, unsigned kind);
/* Hold times, where they are wanted (hold_times.c). The lock with the record `index` has been acquired, and is on the
 * thread's stack; it is about to be let go, and no longer there. */
void qzl_hold_times_prepare(void); /* before the first */
/* Mutexes of the usual kind are taken without a look at whether hold times are wanted, or no longer (fast_mutex.h). */
void qzl_take_mutexes(void);
void qzl_hold_begins(struct qzl_thread *me, uint32_t index, const void *address);
void qzl_hold_ends(struct qzl_thread *me, uint32_t index, const void *address);
static inline void qzl_acquired(struct qzl_thread *me, uint32_t index, const void *address) {
  if (__builtin_expect(qzi_pub_exact_hold, 0)) qzl_hold_begins(me, index, address);
}
static inline void qzl_released(struct qzl_thread *me, uint32_t index, const void *address) {
  if (__builtin_expect(qzi_pub_exact_hold, 0)) qzl_hold_ends(me, index, address);
}

/* Under which key the calling thread has a lock on its stack, just before it lets it go; 0: it has not. *index: of the
 * lock's own record, 0: it is of an aggregate record. */
uint64_t qzl_held(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index);
/* The lock that was taken last; NULL: none. */
static inline struct qzl_held_lock *qzl_last_held(struct qzl_thread *me) {
  return __builtin_expect(me->held_count != 0, 1) ? &me->held[me->held_count - 1] : NULL;
}
/* Whether it is that one. */
static inline bool qzl_is_held(const struct qzl_held_lock *held, const void *address) {
  return (held->address & ~UINT64_C(3)) == (uint64_t)(uintptr_t)address;
}
/* Index of its own record; 0: it is of an aggregate record. */
static inline uint32_t qzl_held_index(const struct qzl_held_lock *held) {
  return held->address & 1 ? 0 : QZ_KEY_INDEX(held->key);
}
/* The lock that was taken last is off the stack. false: that is another one. */
static inline bool qzl_release_fast(struct qzl_thread *me, const void *address) {
  const struct qzl_held_lock *last = qzl_last_held(me);
  if (!last || __builtin_expect((last->address & ~UINT64_C(1)) != (uint64_t)(uintptr_t)address, 0)) return false;
  if (__builtin_expect(!qzi_pub_pop_fast(&me->thread, last->key), 0)) return false;
  me->held_count--;
  return true;
}
/* The same where all is as usual, for one that the thread may have waited for. *index: of its own record, 0: it has
 * none. */
static inline bool qzl_release_usual(struct qzl_thread *me, const void *address, uint32_t *index) {
  const struct qzl_held_lock *last = qzl_last_held(me);
  if (!last || !qzl_is_usual(me) || __builtin_expect(!qzl_is_held(last, address), 0)) return false;
  *index = qzl_held_index(last);
  if (__builtin_expect(!qzi_pub_take_off(me->thread.record, last->key), 0)) return false;
  me->held_count--;
  return true;
}
/* Some thread waits for the lock that was taken last: that is in its record before the real call in which it waits.
 */
static inline bool qzl_last_is_wanted(const struct qzl_thread *me) {
  const struct qzl_held_lock *last = &me->held[me->held_count ? me->held_count - 1 : 0];
  return me->held_count && !(last->address & 1) &&
         __atomic_load_n(&QZI_PUB_OBJECT(QZ_KEY_INDEX(last->key))->queue, __ATOMIC_RELAXED);
}
static inline void qzl_pop(struct qzl_thread *me, uint64_t key) {
  if (key && !qzi_pub_pop_fast(&me->thread, key)) qzi_pub_pop(&me->thread, key);
}
/* What the thread waited for, and has now, is not let go by qzl_release_fast: whoever lets it go calls qzl_write_waited
 * after that. false: it is not among those that the thread is known to hold. */
bool qzl_write_at_release_slow(struct qzl_thread *me, const void *address);
static inline bool qzl_write_at_release(struct qzl_thread *me, const void *address) {
  struct qzl_held_lock *last = qzl_last_held(me);
  if (!last || __builtin_expect(!qzl_is_held(last, address), 0)) return qzl_write_at_release_slow(me, address);
  last->address |= 2;
  return true;
}
/* After qzl_held: it was not let go. */
void qzl_kept(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address);
/* It has it on the stack again, after qzl_held and qzl_pop. */
void qzl_hold_again(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address);

/* Objects that are no locks: on the stack while the thread waits for them. The access is counted. */
static inline void qzl_show(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site) {
  if (!index) return;
  qzl_count(me, site, key);
  qzi_pub_push(&me->pub, &me->thread, key);
}
static inline void qzl_hide(struct qzl_thread *me, uint32_t index, uint64_t key) {
  if (index) qzl_pop(me, key);
}
/* What the place knows of an object with a record of its own; NULL: nothing. qzl_know: it knows it from now on, mostly.
 */
static inline const struct qzl_cached_lock *qzl_known_at(struct qzl_thread *me, const void *address, unsigned kind,
                                                         uint64_t site) {
  uint64_t at = (uint64_t)(uintptr_t)address, place = QZL_PLACE(site, kind);
  const struct qzl_cached_lock *cached = qzl_cached_lock(me, place, at);
  return qzl_is_known(cached, place, at, __atomic_load_n(&qzl_generation, __ATOMIC_RELAXED)) ? cached : NULL;
}
void qzl_know(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site, const void *address);
/* As qzl_show, of an object that is found by its address. Index of its record, as of qzl_own. */
uint32_t qzl_show_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
static inline uint32_t qzl_show_at(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  const struct qzl_cached_lock *cached = qzl_known_at(me, address, kind, site);
  struct qz_thread *record = me->thread.record;
  uint32_t top = __builtin_expect(cached != NULL, 1) ? qzi_pub_top(record) : UINT32_MAX;
  if (__builtin_expect(top >= qzi_pub_limit, 0)) return qzl_show_slow(me, address, kind, site);
  qzl_count_known(me, cached);
  qzi_pub_put(record, top, cached->key);
  return QZ_KEY_INDEX(cached->key);
}
/* The access alone is counted: nobody has to wait. */
void qzl_count_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
static inline void qzl_count_at(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  const struct qzl_cached_lock *cached = qzl_known_at(me, address, kind, site);
  if (__builtin_expect(cached != NULL, 1))
    qzl_count_known(me, cached);
  else
    qzl_count_slow(me, address, kind, site);
}

/* A try-lock failed, or did not. */
void qzl_tried_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, int failed);
static inline void qzl_tried(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, int failed) {
  if (failed || (me->thread.record && me->thread.record->tries)) qzl_tried_slow(me, address, kind, site, failed);
}

#pragma GCC visibility pop
#endif
