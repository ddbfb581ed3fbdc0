/* Call tables: exact counts of the calls from one call site to one procedure or object.
 *
 * Owns:    the slots.
 * Writer:  the processor that owns the table; the shared table: all kernel threads without one of their own, by atomic
 *          additions.
 * Reader:  the sampler, which adds up the slots of a pair.
 * Must not: be instrumented; use a vector register (hooks call this).
 */
#include "private.h"
#include "publisher.h"

struct qz_call qzi_no_calls[QZI_CALL_SLOTS]; /* a table that is never written */

#define PROBES       64 /* number of slots of a call table that are tried for a pair */
#define SMALL_PROBES 16 /* the same for a small table */

QZI_HOOK static inline uint32_t second_slot(uint64_t site, uint64_t key) {
  return qzi_pub_object_second(qzi_pub_object_spread(site, key), key);
}

/* Returns the slot to try after `slot`, as number `tried` + 1. Slots of objects form groups (object_records.h): from
 * the second try on, a step leads to the next group of the upper half, one slot further. */
QZI_HOOK static inline uint32_t next_slot(uint32_t slot, uint32_t tried, uint64_t site, uint64_t key) {
  if (!(key & QZ_KEY_OBJECT)) return (slot + 1) & (QZI_CALL_SLOTS - 1);
  return tried == 1 ? second_slot(site, key) : QZI_CALL_SLOTS / 2 | (slot + 17) % (QZI_CALL_SLOTS / 2);
}

/* Returns whether the slot belongs to this pair; if it is free, the pair takes it. */
QZI_HOOK static inline bool is_its(struct qz_call *call, uint64_t site, uint64_t key) {
  uint64_t taken = __atomic_load_n(&call->site, __ATOMIC_ACQUIRE);
  if (taken) return taken == site && call->key == key;
  /* A slot with a key but no site is being taken: by the code that this one, in a signal handler, has interrupted,
   * or, in the shared table, by another thread. It may be for this very pair, which then has two slots. */
  uint64_t none = 0;
  if (!__atomic_compare_exchange_n(&call->key, &none, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return false;
  __atomic_store_n(&call->site, site, __ATOMIC_RELEASE);
  return true;
}

/* Returns the slot of a pair, or a free one taken for it, searching from `slot` on; NULL: none found. */
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

/* Without a lock: its holder could lose its CPU while others wait for it, or be interrupted by a signal handler that
 * counts, too. */
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

/* ---- calls of objects ---- */

/* One call site may use hundreds of thousands of objects. If each took its first slot, other pairs would not find
 * their slots free, and a full table would lose counts after long searches. So from the object number NEAR_MOST of a
 * call site on, further objects start with their second slot; and when FAR_MOST objects of all call sites do that,
 * further ones are counted together with the other objects of their place. */
#define NEAR_MOST    512u
#define FAR_MOST     4096u
#define PLACES_LOG2  9
#define PLACES_TRIED 8 /* if all are used for other call sites, the first is shared */
struct qzi_pub_pairs {
  uint32_t far;
  struct objects {
    uint64_t site; /* of the call */
    uint32_t made;
    uint32_t place, shared; /* of the last object that was counted with its place */
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

/* Returns the slot that an object's uses already have at this call site, or NULL. It continues past a free first
 * slot, which further objects do not use. */
static struct qz_call *slot_of(struct qz_call *table, uint64_t site, uint64_t key) {
  uint32_t slot = qzi_pub_slot(site, key);
  for (uint32_t tried = 1; tried <= PROBES; slot = next_slot(slot, tried++, site, key)) {
    struct qz_call *call = &table[slot];
    if (call->site == site && call->key == key) return call;
    if (!call->site && tried > 1) return NULL;
  }
  return NULL;
}

/* Takes a slot for the first use of an object at a call site: one of its own, or the one that all further objects
 * share. NULL: none. */
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
