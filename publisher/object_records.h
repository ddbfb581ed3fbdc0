/* Publishing of synchronization objects: what is asked for and held on profile stacks, accesses, the objects' records.
 *
 * Owns:    the inline part of object_records.c.
 * Writer:  the thread that asks; of a record: whoever holds the object or its internal lock, where nothing else is
 * said. Reader:  the synchronization objects, joins, sleep; the pthread layer. Must not: be included by any file but
 * publisher.h, whose rules hold here too.
 */
#ifndef QZI_PUBLISH_OBJECT_RECORDS_H
#define QZI_PUBLISH_OBJECT_RECORDS_H

/* Mark of entries that are never stale: as a number with a sign, and in its lower 48 bits (x86-64: with a sign, too),
 * above all others. */
#if defined(__x86_64__)
#define QZI_SP_FIXED UINT64_C(0x7fff7fffffffffff)
#else
#define QZI_SP_FIXED UINT64_C(0x7fffffffffffffff)
#endif

/* ---- profile stack: synchronization objects --------------------------------------------------------------------- */

#define QZI_PUB_KEY(kind, index) QZ_KEY(kind, (index) & ~QZI_PUB_SHARED)

/* The stores of a push onto a stack that has room, and whose top is there. */
static inline __attribute__((always_inline)) void qzi_pub_put(struct qz_thread *record, uint32_t top, uint64_t key) {
  struct qz_entry *entry = (struct qz_entry *)((char *)&record->word + top) + 1;
  qzi_pub_fence();
  qzi_pub_store(&entry->key, key);
  qzi_pub_store(&entry->sp, QZI_SP_FIXED);
  top += (uint32_t)sizeof *entry;
  QZI_TRACE(stack(record, top));
  qzi_pub_pushed(record, top);
}
/* Whether the topmost entry was of that key; it is off then. */
static inline __attribute__((always_inline)) bool qzi_pub_take_off(struct qz_thread *record, uint64_t key) {
  uint32_t top = qzi_pub_top(record);
  if (__builtin_expect(((struct qz_entry *)((char *)&record->word + top))->key != key, 0)) return false;
  top -= (uint32_t)sizeof(struct qz_entry);
  QZI_TRACE(stack(record, top));
  qzi_pub_popped(record, top);
  return true;
}
/* Push the object before it is asked for. By the thread itself. */
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
/* Take the topmost entry of the object off, wherever it is: no longer waiting for it, or released. Nothing where it
 * was never pushed. By the thread itself. */
static inline void qzi_pub_pop(struct qzi_pub_thread *t, uint64_t key) {
  if (!qzi_publishing()) return;
  struct qz_thread *record = t->record;
  if (!record || record->epoch != qzi_pub_epoch) return;
  if (!qzi_pub_take_off(record, key) || __builtin_expect(record->limit == QZ_LIMIT_LONG, 0))
    qzi_pub_remove(record, key);
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

#define QZI_CALL_SLOTS UINT32_C(65536)

/* First slot that is tried for a pair. Of procedures, calls at least 4 bytes apart differ, and the factor (2^32 by the
 * golden ratio) keeps distances of callees from being those of calls. The hooks in assembly have it too. */
static inline uint32_t qzi_pub_procedure_slot(uint64_t site, uint64_t key) {
  return ((uint32_t)key * QZ_HASH_FACTOR_32 + 8 * (uint32_t)site) >> 5 & (QZI_CALL_SLOTS - 1);
}
/* Of objects. They have consecutive indices, and one place uses many of them: 16 stand next to each other, to touch
 * little memory. So where the first slot, in the lower half of the table, is taken, those behind it mostly are: the
 * second one lies anywhere in the upper half. Of a place that uses objects by the thousand most have no first slot
 * (call_tables.c), and others do not get slower. */
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
/* The slot of a pair where it is one of the first that are tried; NULL: it is another one, or it has none. */
static inline __attribute__((always_inline)) struct qz_call *qzi_pub_near_slot(struct qz_call *table, uint64_t site,
                                                                               uint64_t key) {
  struct qz_call *call = &table[qzi_pub_slot(site, key)];
  if (__builtin_expect(call->site == site && call->key == key, 1)) return call;
  if (!(key & QZ_KEY_OBJECT)) return NULL;
  call = &table[qzi_pub_object_second(qzi_pub_object_spread(site, key), key)];
  return call->site == site && call->key == key ? call : NULL;
}
/* One access, spawn or call from `site` (a return address) to `key`. */
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

/* Index of the object's record, made at its first published use; 0 while nothing is published. `site` is the return
 * address of the caller's public function; capacity: barrier parties, channel capacity, else 0. */
static inline uint32_t qzi_pub_object(struct qzi_pub_object *object, unsigned kind, const void *address, uint64_t site,
                                      uint32_t capacity) {
  if (!qzi_publishing() || !qzi_pub_objects) return 0;
  uint32_t index = __atomic_load_n(&object->index, __ATOMIC_ACQUIRE);
  return __builtin_expect(index != 0, 1) ? index : qzi_pub_register(object, kind, address, site, capacity);
}
/* The object is destroyed: its record goes to the next one of the same kind, name and place. Publishing or not. */
static inline void qzi_pub_destroyed(struct qzi_pub_object *object) {
  if (__builtin_expect(object->index != 0, 0)) qzi_pub_object_destroyed(object);
}
/* Index of the record of a join or sleep made at `site`: one object for each place. */
static inline uint32_t qzi_pub_site(struct qzi_publisher *p, unsigned kind, uint64_t site) {
  if (!qzi_publishing() || !p->sites) return 0;
  const struct qzi_pub_site_slot *slot = &p->sites[site >> 2 & (QZI_PUB_SITES - 1)];
  return __builtin_expect(slot->site == site && slot->kind == kind, 1) ? slot->index : qzi_pub_site_slow(p, kind, site);
}

#define QZI_PUB_JOINS         64 /* that a processor may not have written down */

/* The calls below take an index; 0 does nothing. Those without "shared" are for whoever holds the object or its
 * internal lock: they use plain stores (a record shared between objects is updated atomically). */
#define QZI_PUB_OBJECT(index) (&qzi_pub_objects[(index) & ~QZI_PUB_SHARED])

static inline void qzi_pub_add(uint64_t *at, uint64_t amount, uint32_t index) {
  if (__builtin_expect(index & QZI_PUB_SHARED, 0))
    __atomic_fetch_add(at, amount, __ATOMIC_RELAXED);
  else
    qzi_pub_store(at, *at + amount);
}
/* Completed acquisition, wait, send, receive. t: new exclusive holder, NULL where there is none. */
static inline void qzi_pub_acquired(uint32_t index, const struct qzi_pub_thread *t) {
  if (!index || !qzi_publishing()) return;
  struct qz_object *record = QZI_PUB_OBJECT(index);
  if (t) {
    __atomic_store_n(&record->owner, t->index_plus_1, __ATOMIC_RELAXED);
    if (__builtin_expect(qzi_pub_exact_hold, 0)) record->line0_reserved[0] = qzi_pub_clock_ns();
  }
  qzi_pub_add(&record->acquisitions, 1, index);
}
static inline void qzi_pub_acquired_by(uint32_t index, uint64_t times) {
  if (index && qzi_publishing()) qzi_pub_add(&QZI_PUB_OBJECT(index)->acquisitions, times, index);
}
/* The same where several may do so at once (read locks, semaphores without an internal lock). */
static inline void qzi_pub_acquired_shared(uint32_t index) {
  if (index && qzi_publishing()) __atomic_fetch_add(&QZI_PUB_OBJECT(index)->acquisitions, 1, __ATOMIC_RELAXED);
}
/* A join at `site` whose child the caller ran itself. So fast that processors would fight over the record: each counts
 * its own, and writes them down when they are more than a sixteenth of what it has written, when it leaves its thread,
 * and at the program's end. */
static inline void qzi_pub_joined(struct qzi_publisher *p, uint64_t site, uint32_t index) {
  if (!index || !qzi_publishing() || !p->sites) return;
  uint32_t at = site >> 2 & (QZI_PUB_SITES - 1);
  struct qzi_pub_site_slot *slot = &p->sites[at];
  if (__builtin_expect(slot->site != site || slot->index != index, 0)) {
    qzi_pub_acquired_shared(index);
    return;
  }
  uint64_t joined = p->sites_joined | UINT64_C(1) << at;
  if (__builtin_expect(joined != p->sites_joined, 0)) p->sites_joined = joined;
  if (++slot->joins > slot->written / 16 || slot->joins >= QZI_PUB_JOINS) qzi_pub_write_joins(p);
}
/* The exclusive holder is about to release. */
static inline void qzi_pub_released(uint32_t index) {
  if (!index || !qzi_publishing()) return;
  struct qz_object *record = QZI_PUB_OBJECT(index);
  if (__builtin_expect(qzi_pub_exact_hold, 0)) qzi_pub_held_slow(index, qzi_pub_clock_ns());
  __atomic_store_n(&record->owner, 0, __ATOMIC_RELAXED);
}
/* Threads blocked on it now. Under the object's internal lock. */
static inline void qzi_pub_queue(uint32_t index, uint32_t length) {
  if (!index || !qzi_publishing()) return;
  QZI_TRACE(queue(index & ~QZI_PUB_SHARED, length));
  __atomic_store_n(&QZI_PUB_OBJECT(index)->queue, length, __ATOMIC_RELAXED);
}
/* One more or one less, where there is no lock (joins). Not guarded by the flag, so that both of a pair happen: pass
 * the same index to both. */
static inline void qzi_pub_queue_add(uint32_t index, int32_t change) {
  if (!index || !qzi_pub_objects) return;
  uint32_t length = __atomic_add_fetch(&QZI_PUB_OBJECT(index)->queue, (uint32_t)change, __ATOMIC_RELAXED);
  QZI_TRACE(queue(index & ~QZI_PUB_SHARED, length));
  (void)length;
}
/* Joins: whom one waits for (index + 1 of a thread's record) changes from `from` (0: whatever it was) to `to`. Several
 * may wait at one place: the last one to say so is shown. Not guarded by the flag, as above. */
static inline void qzi_pub_awaited(uint32_t index, uint32_t from, uint32_t to) {
  if (!index || !qzi_pub_objects) return;
  uint32_t *owner = &QZI_PUB_OBJECT(index)->owner;
  if (!from)
    __atomic_store_n(owner, to, __ATOMIC_RELAXED);
  else
    __atomic_compare_exchange_n(owner, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
/* Index + 1 of the record of a thread that another one runs, 0: it has none. */
static inline uint32_t qzi_pub_index_of(const struct qzi_pub_thread *t) {
  return __atomic_load_n(&t->index_plus_1, __ATOMIC_RELAXED);
}
/* Shared holders of a read-write lock, count of a semaphore, items in a channel. */
static inline void qzi_pub_readers(uint32_t index, uint32_t count) {
  if (index && qzi_publishing()) __atomic_store_n(&QZI_PUB_OBJECT(index)->readers, count, __ATOMIC_RELAXED);
}
/* A wait is over that took wait_ns, spin_ns of them spinning: contended, times, histogram. Any thread: updates are
 * atomic. */
static inline void qzi_pub_waited(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  if (index && qzi_publishing()) qzi_pub_waited_slow(index, wait_ns, spin_ns);
}
/* The same under the object's internal lock, where all its waits end under that: plain stores. */
static inline void qzi_pub_waited_locked(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  if (index && qzi_publishing()) qzi_pub_waited_locked_slow(index, wait_ns, spin_ns);
}

/* Several waits that end together, under the object's internal lock: each added, all written down at the end. `index`
 * not 0, but at the end where there were none. */
struct qzi_pub_waits {
  uint64_t count, ns, max_ns;
};
__attribute__((visibility("hidden"))) void qzi_pub_waits_add(uint32_t index, struct qzi_pub_waits *waits, uint64_t ns);
__attribute__((visibility("hidden"))) void qzi_pub_waits_end(uint32_t index, const struct qzi_pub_waits *waits);

/* ---- a free lock: all at once --------------------------------------------------------------------------------------
 */

/* The same stores as above, with each condition tested once and no calls, so that locking a free lock stays a leaf.
 * Each returns false, and has done nothing, where anything is out of the ordinary: then the calls above do it. */

/* qzi_pub_object, qzi_pub_push and qzi_pub_count of a mutex that has a record. */
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
/* qzi_pub_acquired. */
static inline bool qzi_pub_acquired_fast(uint32_t index, const struct qzi_pub_thread *t) {
  if (__builtin_expect(qzi_pub_exact_hold || (index & QZI_PUB_SHARED), 0)) return false;
  struct qz_object *record = &qzi_pub_objects[index];
  __atomic_store_n(&record->owner, t->index_plus_1, __ATOMIC_RELAXED);
  qzi_pub_store(&record->acquisitions, record->acquisitions + 1);
  return true;
}
/* qzi_pub_pop of what is on top. The epoch is looked at last: the hooks of a signal handler may have moved the stack
 * meanwhile, and then the record that is left has none; on a record of an earlier one nothing depends. */
static inline bool qzi_pub_pop_fast(struct qzi_pub_thread *t, uint64_t key) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(!record, 0) || !qzi_pub_take_off(record, key)) return false;
  return __builtin_expect(__atomic_load_n(&record->epoch, __ATOMIC_RELAXED) == qzi_pub_epoch, 1);
}

#endif
