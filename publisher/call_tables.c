/* Call tables: exact counts of the calls from one place to one procedure or object.
 *
 * Owns:    the slots.
 * Writer:  the processor whose table it is; the shared one: all those that have none of their own, by atomic addition.
 * Reader:  the sampler, which adds up the slots of a pair.
 * Must not: be instrumented; touch a vector register (hooks call this).
 */
#include "private.h"

struct qz_call qzi_no_calls[QZI_CALL_SLOTS]; /* never written */

#define PROBES       64 /* slots of a call table that are tried for a pair */
#define SMALL_PROBES 16 /* the same of a small one */

QZI_HOOK static inline uint32_t second_slot(uint64_t site, uint64_t key) {
  return qzi_pub_object_second(qzi_pub_object_spread(site, key), key);
}

/* The slot that is tried after `slot`, `tried` of them by then. Those of objects stand in groups (object_records.h):
 * from the second on a step leads into the next group of the upper half, one slot further. */
QZI_HOOK static inline uint32_t next_slot(uint32_t slot, uint32_t tried, uint64_t site, uint64_t key) {
  if (!(key & QZ_KEY_OBJECT)) return (slot + 1) & (QZI_CALL_SLOTS - 1);
  return tried == 1 ? second_slot(site, key) : QZI_CALL_SLOTS / 2 | (slot + 17) % (QZI_CALL_SLOTS / 2);
}

/* Whether the slot is this pair's, which takes it where it is free. */
QZI_HOOK static inline bool is_its(struct qz_call *call, uint64_t site, uint64_t key) {
  uint64_t taken = __atomic_load_n(&call->site, __ATOMIC_ACQUIRE);
  if (taken) return taken == site && call->key == key;
  /* A slot that has a key but no site is being taken: by what this, a signal handler, has interrupted, or (the shared
   * table's) by another thread. It may be this very pair's, which then has two slots. */
  uint64_t none = 0;
  if (!__atomic_compare_exchange_n(&call->key, &none, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return false;
  __atomic_store_n(&call->site, site, __ATOMIC_RELEASE);
  return true;
}

/* The slot of a pair, or a free one taken for it, `slot` and those after it; NULL: none. */
QZI_HOOK static struct qz_call *slot_from(struct qz_call *table, uint32_t slot, uint32_t tried, uint64_t site,
                                          uint64_t key) {
  for (; tried <= PROBES; slot = next_slot(slot, tried++, site, key))
    if (is_its(&table[slot], site, key)) return &table[slot];
  return NULL;
}

QZI_HOOK struct qz_call *qzi_call_small(struct qz_call *table, uint64_t site, uint64_t key) {
  uint32_t first = qzi_pub_slot(site, key);
  for (uint32_t k = 0; k < SMALL_PROBES; k++) {
    struct qz_call *call = &table[(first + k) % QZI_SMALL_SLOTS];
    if (is_its(call, site, key)) return call;
  }
  return NULL;
}

QZI_HOOK static struct qz_call *slot_in(struct qz_call *table, uint32_t first, uint64_t site, uint64_t key) {
  return slot_from(table, first, 1, site, key);
}

QZI_HOOK static void lost(uint32_t which) {
  __atomic_fetch_add(&qzi_session.processor_base[which % qzi_session.processors].calls_lost, 1, __ATOMIC_RELAXED);
}

/* Without a lock: what holds one may lose its CPU to those that then wait for it, or be interrupted by a signal handler
 * that counts, too. */
QZI_HOOK void qzi_call_count_shared(uint64_t site, uint64_t key) {
  struct qz_call *small = qzi_publishers_small(), *own = small ? qzi_call_small(small, site, key) : NULL;
  if (own) {
    qzi_pub_store(&own->count, own->count + 1);
    return;
  }
  struct qz_call *call = slot_in(qzi_session.call_base + (size_t)qzi_session.call_tables * QZI_CALL_SLOTS,
                                 qzi_pub_slot(site, key), site, key);
  if (call)
    __atomic_fetch_add(&call->count, 1, __ATOMIC_RELAXED);
  else
    lost(0);
}

QZI_HOOK struct qz_call *qzi_call_slot(uint64_t calls, uint64_t site, uint64_t key) {
  struct qz_call *table = (struct qz_call *)(uintptr_t)calls;
  return table == qzi_no_calls ? NULL : slot_in(table, qzi_pub_slot(site, key), site, key);
}

QZI_HOOK struct qz_call *qzi_call_count(uint64_t calls, uint32_t first, uint64_t site, uint64_t key) {
  struct qz_call *table = (struct qz_call *)(uintptr_t)calls;
  if (!table) return NULL;
  if (table == qzi_no_calls) {
    qzi_call_count_shared(site, key);
    return NULL;
  }
  struct qz_call *call = slot_in(table, first % QZI_CALL_SLOTS, site, key);
  if (call)
    qzi_pub_store(&call->count, call->count + 1);
  else
    lost((uint32_t)((table - qzi_session.call_base) / QZI_CALL_SLOTS));
  return call;
}

/* ---- of objects ---------------------------------------------------------------------------------------------------
 */

/* One call may use objects by the hundred thousand. Did each take its first slot, others would not find theirs free,
 * and a table that is full would lose them, after long searches. So from NEAR_MOST objects of a call on further ones
 * begin with their second slot, and when FAR_MOST do, of whichever calls, they are counted with those of their place
 * together. */
#define NEAR_MOST    512u
#define FAR_MOST     4096u
#define PLACES_LOG2  9
#define PLACES_TRIED 8 /* where all are other calls', the first is shared */
struct qzi_pub_pairs {
  uint32_t far;
  struct objects {
    uint64_t site; /* of the call */
    uint32_t made;
    uint32_t place, shared; /* of the last object that was beyond */
  } of[1u << PLACES_LOG2];
};
const size_t qzi_pairs_bytes = sizeof(struct qzi_pub_pairs);

static struct objects *objects_of(struct qzi_pub_pairs *pairs, uint64_t site) {
  uint32_t hash = (uint32_t)(site * QZ_HASH_FACTOR >> (64 - PLACES_LOG2));
  for (uint32_t k = 0; k < PLACES_TRIED; k++) {
    struct objects *of = &pairs->of[(hash + k) % (1u << PLACES_LOG2)];
    if (!of->site) of->site = site;
    if (of->site == site) return of;
  }
  return &pairs->of[hash];
}

/* The slot that the use of an object has already, or NULL. That its first one is free says nothing. */
static struct qz_call *slot_of(struct qz_call *table, uint64_t site, uint64_t key) {
  uint32_t slot = qzi_pub_slot(site, key);
  for (uint32_t tried = 1; tried <= PROBES; slot = next_slot(slot, tried++, site, key)) {
    struct qz_call *call = &table[slot];
    if (call->site == site && call->key == key) return call;
    if (!call->site && tried > 1) return NULL;
  }
  return NULL;
}

/* The slot for the first use of an object at a place: one of its own, or that of all further ones. NULL: none. */
static struct qz_call *new_slot(struct qzi_publisher *p, uint64_t site, uint64_t key) {
  struct objects *of = objects_of(p->pairs, site);
  uint32_t index = QZ_KEY_INDEX(key), place;
  if (of->made >= NEAR_MOST) {
    if (p->pairs->far < FAR_MOST) {
      p->pairs->far++;
      return slot_from(p->calls, second_slot(site, key), 2, site, key);
    }
    if ((place = qzi_object_place(index))) {
      if (place != of->place) {
        of->shared = qzi_object_shared(index);
        of->place = place;
      }
      key = QZI_PUB_KEY(QZ_KEY_KIND(key), of->shared);
    }
  } else {
    of->made++;
  }
  return slot_in(p->calls, qzi_pub_slot(site, key), site, key);
}

void qzi_pub_count_slow(struct qzi_publisher *p, uint64_t site, uint64_t key) {
  if (!p->pairs || !(key & QZ_KEY_OBJECT)) {
    qzi_call_count((uint64_t)(uintptr_t)p->calls, qzi_pub_slot(site, key), site, key);
    return;
  }
  struct qz_call *call = slot_of(p->calls, site, key);
  if (!call) call = new_slot(p, site, key);
  if (call)
    qzi_pub_store(&call->count, call->count + 1);
  else
    lost(p->index);
}
