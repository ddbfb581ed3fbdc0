/* Publishing of synchronization objects: requested and held objects on profile stacks, accesses, the objects' records.
 *
 * Owns:    the inline part of object_records.c.
 * Writer:  the requesting thread; a record: the holder of the object or of its internal lock, unless stated otherwise.
 * Reader:  the synchronization objects, joins, sleep; the pthread layer.
 * Must not: be included by a host, which includes publisher.h; its rules apply here too.
 */
#ifndef QZI_PUBLISH_OBJECT_RECORDS_H
#define QZI_PUBLISH_OBJECT_RECORDS_H

#include "states.h"

/* Mark of entries that are never stale: greater than all others, both as a signed number and in its lower 48 bits
 * (on x86-64 as a signed number, too). */
#if defined(__x86_64__)
#define QZI_SP_FIXED UINT64_C(0x7fff7fffffffffff)
#else
#define QZI_SP_FIXED UINT64_C(0x7fffffffffffffff)
#endif

/* ---- profile stack: synchronization objects --------------------------------------------------------------------- */

#define QZI_PUB_KEY(kind, index) QZ_KEY(kind, (index) & ~QZI_PUB_SHARED)

/* Pushes an entry; the stack must have room. */
static inline __attribute__((always_inline)) void qzi_pub_put(struct qz_thread *record, uint32_t top, uint64_t key) {
  struct qz_entry *entry = (struct qz_entry *)((char *)&record->word + top) + 1;
  qzi_pub_fence();
  qzi_pub_store(&entry->key, key);
  qzi_pub_store(&entry->sp, QZI_SP_FIXED);
  top += (uint32_t)sizeof *entry;
  QZI_TRACE(stack(record, top));
  qzi_pub_pushed(record, top);
}
/* If the topmost entry has that key, it has the other one from now on. */
static inline __attribute__((always_inline)) bool qzi_pub_replace(struct qz_thread *record, uint64_t key,
                                                                  uint64_t other) {
  uint32_t top = qzi_pub_top(record);
  struct qz_entry *entry = (struct qz_entry *)((char *)&record->word + top);
  if (__builtin_expect(entry->key != key, 0)) return false;
  qzi_pub_store(&entry->key, other);
  __atomic_signal_fence(__ATOMIC_RELEASE); /* who sees the number of pushes sees the key */
  qzi_pub_rewritten(record);
  QZI_TRACE(stack(record, top));
  return true;
}
/* If the topmost entry has that key, pops it and returns true. */
static inline __attribute__((always_inline)) bool qzi_pub_take_off(struct qz_thread *record, uint64_t key) {
  uint32_t top = qzi_pub_top(record);
  if (__builtin_expect(((struct qz_entry *)((char *)&record->word + top))->key != key, 0)) return false;
  top -= (uint32_t)sizeof(struct qz_entry);
  QZI_TRACE(stack(record, top));
  qzi_pub_popped(record, top);
  return true;
}
/* Pushes the object before it is requested. By the thread itself. */
static inline void qzi_pub_push(struct qzi_publisher *p, struct qzi_pub_thread *t, uint64_t key) {
  if (!qzi_publishing() || !p->record) return;
  struct qz_thread *record = qzi_pub_record(p, t);
  if (!record) return;
  uint32_t top = qzi_pub_top(record);
  if (__builtin_expect(top >= record->limit, 0)) {
    record = qzi_pub_room(t);
    if (!record) return;
    top = qzi_pub_top(record);
  }
  qzi_pub_put(record, top, key);
}
/* Removes the topmost entry of the object, wherever it is: the thread no longer waits for it, or has released it.
 * Does nothing if it was never pushed. By the thread itself. */
static inline void qzi_pub_pop(struct qzi_pub_thread *t, uint64_t key) {
  if (!qzi_publishing()) return;
  struct qz_thread *record = t->record;
  if (!record || record->epoch != qzi_pub_epoch) return;
  if (!qzi_pub_take_off(record, key) || __builtin_expect(record->limit == QZ_LIMIT_LONG, 0))
    qzi_pub_remove(record, key);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* The first slot to try for a pair. For procedures, call sites are at least 4 bytes apart, and the factor (2^32 by
 * the golden ratio) prevents distances between callees from coinciding with those between call sites. The hooks in
 * assembly compute the same. */
static inline uint32_t qzi_pub_procedure_slot(uint64_t site, uint64_t key) {
  return ((uint32_t)key * QZ_HASH_FACTOR_32 + 8 * (uint32_t)site) >> 5 & (QZI_CALL_SLOTS - 1);
}
/* The same for objects. They have consecutive indices, and one place uses many of them: 16 of them get adjacent
 * slots, so that little memory is accessed. If the first slot, in the lower half of the table, is taken, the slots
 * after it mostly are, too: so the second one can be anywhere in the upper half. At a place that uses thousands of
 * objects, most have no first slot (call_tables.c), so that other places do not become slower. */
static inline uint64_t qzi_pub_object_spread(uint64_t site, uint64_t key) {
  return ((key >> 4) + (site << 20)) * QZ_HASH_FACTOR;
}
static inline uint32_t qzi_pub_object_slot(uint64_t spread, uint64_t key) {
  return (uint32_t)(spread >> 53 << 4 | (key & 15)) & (QZI_CALL_SLOTS / 2 - 1);
}
static inline uint32_t qzi_pub_object_second(uint64_t spread, uint64_t key) {
  return QZI_CALL_SLOTS / 2 | qzi_pub_object_slot(spread << 12, key);
}

static inline uint32_t qzi_pub_slot(uint64_t site, uint64_t key) {
  return key & QZ_KEY_OBJECT ? qzi_pub_object_slot(qzi_pub_object_spread(site, key), key)
                             : qzi_pub_procedure_slot(site, key);
}
/* Returns the slot of a pair if it is one of the first to try; NULL: it is another one, or there is none. */
static inline __attribute__((always_inline)) struct qz_call *qzi_pub_near_slot(struct qz_call *table, uint64_t site,
                                                                               uint64_t key) {
  struct qz_call *call = &table[qzi_pub_slot(site, key)];
  if (__builtin_expect(call->site == site && call->key == key, 1)) return call;
  if (!(key & QZ_KEY_OBJECT)) return NULL;
  call = &table[qzi_pub_object_second(qzi_pub_object_spread(site, key), key)];
  return call->site == site && call->key == key ? call : NULL;
}
/* Counts an access, spawn or call from `site` (a return address) to `key`. */
static inline void qzi_pub_count_now(struct qzi_publisher *p, uint64_t site, uint64_t key) {
  struct qz_call *call = qzi_pub_near_slot(p->calls, site, key);
  if (__builtin_expect(call != NULL, 1))
    qzi_pub_store(&call->count, call->count + 1);
  else
    qzi_pub_count_slow(p, site, key);
}
static inline void qzi_pub_count(struct qzi_publisher *p, uint64_t site, uint64_t key) {
  if (qzi_publishing() && p->calls) qzi_pub_count_now(p, site, key);
}

/* ---- synchronization objects ------------------------------------------------------------------------------------ */

/* Returns the index of the object's record, which is assigned at the first published use; 0 while nothing is
 * published. `site` is the return address of the public function; capacity: barrier parties, channel capacity, else
 * 0. */
static inline uint32_t qzi_pub_object(struct qzi_pub_object *object, unsigned kind, const void *address, uint64_t site,
                                      uint32_t capacity) {
  if (!qzi_publishing() || !qzi_pub_objects) return 0;
  uint32_t index = __atomic_load_n(&object->index, __ATOMIC_ACQUIRE);
  return __builtin_expect(index != 0, 1) ? index : qzi_pub_register(object, kind, address, site, capacity);
}
/* Called when an object is destroyed, also while nothing is published: its record goes to the next object of the
 * same kind, name and place. */
static inline void qzi_pub_destroyed(struct qzi_pub_object *object) {
  if (__builtin_expect(object->index != 0, 0)) qzi_pub_object_destroyed(object);
}
/* Returns the index of the record of a join or sleep at `site`: there is one object per place. */
static inline uint32_t qzi_pub_site(struct qzi_publisher *p, unsigned kind, uint64_t site) {
  if (!qzi_publishing() || !p->sites) return 0;
  const struct qzi_pub_site_slot *slot = &p->sites[site >> 2 & (QZI_PUB_SITES - 1)];
  return __builtin_expect(slot->site == site && slot->kind == kind, 1) ? slot->index : qzi_pub_site_slow(p, kind, site);
}

/* The maximum number of joins that a processor has counted but not written. */
static inline int32_t qzi_pub_joins_kept(uint32_t written) {
  return written / 16 < 63 ? (int32_t)(written / 16) + 1 : 64;
}
/* The first join of the slot since its joins were written, or the last one until they are to be written again. */
void qzi_pub_joins_due(struct qzi_publisher *p, struct qzi_pub_site_slot *slot);

/* The functions below take an index; with 0 they do nothing. Those without "shared" are for the holder of the object
 * or of its internal lock: they use plain stores (records shared by several objects are updated atomically). */
#define QZI_PUB_OBJECT(index) (&qzi_pub_objects[(index) & ~QZI_PUB_SHARED])

static inline void qzi_pub_add(uint64_t *at, uint64_t amount, uint32_t index) {
  if (__builtin_expect(index & QZI_PUB_SHARED, 0))
    __atomic_fetch_add(at, amount, __ATOMIC_RELAXED);
  else
    qzi_pub_store(at, *at + amount);
}
/* Counts a completed acquisition, wait, send or receive. t: the new exclusive holder; NULL: there is none. */
static inline void qzi_pub_acquired(uint32_t index, const struct qzi_pub_thread *t) {
  if (!index || !qzi_publishing()) return;
  struct qz_object *record = QZI_PUB_OBJECT(index);
  if (t) {
    __atomic_store_n(&record->owner, t->index_plus_1, __ATOMIC_RELAXED);
    if (__builtin_expect(qzi_pub_exact_hold, 0)) record->hold_since = qzi_pub_clock_ns();
  }
  qzi_pub_add(&record->acquisitions, 1, index);
}
static inline void qzi_pub_acquired_by(uint32_t index, uint64_t times) {
  if (index && qzi_publishing()) qzi_pub_add(&QZI_PUB_OBJECT(index)->acquisitions, times, index);
}
/* The same if several threads may do so at the same time (read locks, semaphores without an internal lock). */
static inline void qzi_pub_acquired_shared(uint32_t index) {
  if (index && qzi_publishing()) __atomic_fetch_add(&QZI_PUB_OBJECT(index)->acquisitions, 1, __ATOMIC_RELAXED);
}
/* Returns what p keeps of the joins at `site`. */
static inline __attribute__((always_inline)) struct qzi_pub_site_slot *qzi_pub_join_slot(struct qzi_publisher *p,
                                                                                         uint64_t site) {
  struct qzi_pub_site_slot *slot = &p->sites[site >> 2 & (QZI_PUB_SITES - 1)];
  if (__builtin_expect(slot->site != site || slot->kind != QZ_KIND_JOIN, 0)) qzi_pub_site_slow(p, QZ_KIND_JOIN, site);
  return slot;
}
/* Counts a join at `site` that did not wait: the child had ended, or the caller ran it itself. Such joins are so
 * frequent that processors would contend for the record's cache line: each processor counts them itself, and writes
 * them when they are more than 1/16 of what it has written before, when it leaves its thread, and at the program's end.
 */
static inline void qzi_pub_joined_at(struct qzi_publisher *p, struct qzi_pub_site_slot *slot) {
  if (__builtin_expect(--slot->left <= 0, 0)) qzi_pub_joins_due(p, slot);
}
static inline void qzi_pub_joined(struct qzi_publisher *p, uint64_t site, uint32_t index) {
  if (!index || !qzi_publishing() || !p->sites) return;
  struct qzi_pub_site_slot *slot = &p->sites[site >> 2 & (QZI_PUB_SITES - 1)];
  if (__builtin_expect(slot->site != site || slot->index != index, 0))
    qzi_pub_acquired_shared(index);
  else
    qzi_pub_joined_at(p, slot);
}
/* To be called by the exclusive holder before it releases the object. */
static inline void qzi_pub_released(uint32_t index) {
  if (!index || !qzi_publishing()) return;
  struct qz_object *record = QZI_PUB_OBJECT(index);
  if (__builtin_expect(qzi_pub_exact_hold, 0)) qzi_pub_held_slow(index, qzi_pub_clock_ns());
  __atomic_store_n(&record->owner, 0, __ATOMIC_RELAXED);
}
/* Publishes the number of threads that are blocked on the object. Under the object's internal lock. */
static inline void qzi_pub_queue(uint32_t index, uint32_t length) {
  if (!index || !qzi_publishing()) return;
  QZI_TRACE(queue(index & ~QZI_PUB_SHARED, length));
  __atomic_store_n(&QZI_PUB_OBJECT(index)->queue, length, __ATOMIC_RELAXED);
}
/* The same, and qzi_pub_blocked for the thread that is the last of them. */
static inline void qzi_pub_queues(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t index, uint32_t length) {
  if (!qzi_publishing()) return;
  if (__builtin_expect(index != 0, 1)) {
    QZI_TRACE(queue(index & ~QZI_PUB_SHARED, length));
    __atomic_store_n(&QZI_PUB_OBJECT(index)->queue, length, __ATOMIC_RELAXED);
  }
  if (p->record) qzi_pub_thread_state(p, t, QZ_STATE_BLOCKED, index);
}
/* Changes that number by `change` where there is no lock (joins). It does not test the flag, so that both changes of
 * a pair are made: pass the same index to both. */
static inline void qzi_pub_queue_add(uint32_t index, int32_t change) {
  if (!index || !qzi_pub_objects) return;
  uint32_t length = __atomic_add_fetch(&QZI_PUB_OBJECT(index)->queue, (uint32_t)change, __ATOMIC_RELAXED);
  QZI_TRACE(queue(index & ~QZI_PUB_SHARED, length));
  (void)length;
}
/* For joins: the awaited thread (index + 1 of its record) changes from `from` (0: any) to `to`. Several threads may
 * wait at one place; the last one that publishes is shown. It does not test the flag, as above. */
static inline void qzi_pub_awaited(uint32_t index, uint32_t from, uint32_t to) {
  if (!index || !qzi_pub_objects) return;
  uint32_t *owner = &QZI_PUB_OBJECT(index)->owner;
  if (!from)
    __atomic_store_n(owner, to, __ATOMIC_RELAXED);
  else
    __atomic_compare_exchange_n(owner, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
/* Returns index + 1 of the record of a thread that another processor may run; 0: it has none. */
static inline uint32_t qzi_pub_index_of(const struct qzi_pub_thread *t) {
  return __atomic_load_n(&t->index_plus_1, __ATOMIC_RELAXED);
}
/* Publishes the number of shared holders of a read-write lock, the count of a semaphore, or the number of items in a
 * channel. */
static inline void qzi_pub_readers(uint32_t index, uint32_t count) {
  if (index && qzi_publishing()) __atomic_store_n(&QZI_PUB_OBJECT(index)->readers, count, __ATOMIC_RELAXED);
}
/* The bucket of a histogram. */
static inline unsigned qzi_pub_bucket(uint64_t ns) {
  unsigned k = 63 - (unsigned)__builtin_clzll(ns | 1);
  return k < QZ_TIME_BUCKETS ? k : QZ_TIME_BUCKETS - 1;
}
/* A wait, but for the longest one. */
static inline void qzi_pub_waited_but_most(struct qz_object *record, uint64_t wait_ns, uint64_t spin_ns) {
  __atomic_fetch_add(&record->contended, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&record->wait_ns, wait_ns, __ATOMIC_RELAXED);
  if (spin_ns) __atomic_fetch_add(&record->spin_ns, spin_ns, __ATOMIC_RELAXED);
  __atomic_fetch_add(&record->wait_hist[qzi_pub_bucket(wait_ns)], 1, __ATOMIC_RELAXED);
}
__attribute__((visibility("hidden"))) void qzi_pub_waited_most(struct qz_object *record, uint64_t wait_ns);
/* Counts a wait that has ended and took wait_ns, spin_ns of them spinning: contended, times, histogram. For any
 * thread: updates are atomic. */
static inline void qzi_pub_waited(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  if (index && qzi_publishing()) qzi_pub_waited_slow(index, wait_ns, spin_ns);
}
/* The same under the object's internal lock, if all its waits end under that lock: plain stores. */
static inline void qzi_pub_waited_locked(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  if (index && qzi_publishing()) qzi_pub_waited_locked_slow(index, wait_ns, spin_ns);
}

/* Several waits that end together, under the object's internal lock: each is added, and their sums are written at
 * the end. `index` must not be 0, except at the end if there were no waits. */
struct qzi_pub_waits {
  uint64_t count, ns, max_ns;
};
__attribute__((visibility("hidden"))) void qzi_pub_waits_add(uint32_t index, struct qzi_pub_waits *waits, uint64_t ns);
__attribute__((visibility("hidden"))) void qzi_pub_waits_end(uint32_t index, const struct qzi_pub_waits *waits);

/* ---- a free lock: all stores at once ---- */

/* These functions make the same stores as those above, but test each condition once and call nothing, so that
 * locking a free lock remains a leaf function. In uncommon cases each returns false without having done anything;
 * then the functions above are used. */

/* Does the same as qzi_pub_object, qzi_pub_push and qzi_pub_count for a mutex that has a record. */
static inline bool qzi_pub_ask_fast(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t index, uint64_t key,
                                    uint64_t site) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(!index || !record || !p->calls, 0) || __builtin_expect(record->epoch != qzi_pub_epoch, 0))
    return false;
  uint32_t top = qzi_pub_top(record);
  struct qz_call *call = qzi_pub_near_slot(p->calls, site, key);
  if (__builtin_expect(top >= record->limit || !call, 0)) return false;
  qzi_pub_put(record, top, key);
  qzi_pub_store(&call->count, call->count + 1);
  return true;
}
/* Does the same as qzi_pub_acquired. */
static inline bool qzi_pub_acquired_fast(uint32_t index, const struct qzi_pub_thread *t) {
  if (__builtin_expect(qzi_pub_exact_hold || (index & QZI_PUB_SHARED), 0)) return false;
  struct qz_object *record = &qzi_pub_objects[index];
  __atomic_store_n(&record->owner, t->index_plus_1, __ATOMIC_RELAXED);
  qzi_pub_store(&record->acquisitions, record->acquisitions + 1);
  return true;
}
/* Does the same as qzi_pub_pop if the object is on top. It tests the epoch last: hooks of a signal handler may have
 * moved the stack to a longer record, and then the old record has no epoch; pops from a record of an
 * earlier epoch do no harm. */
static inline bool qzi_pub_pop_fast(struct qzi_pub_thread *t, uint64_t key) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(!record, 0) || !qzi_pub_take_off(record, key)) return false;
  return __builtin_expect(__atomic_load_n(&record->epoch, __ATOMIC_RELAXED) == qzi_pub_epoch, 1);
}

#endif
