/* Locks on the stack of the thread that has or asks for them.
 *
 * Owns:    what a thread knows of the locks that it has (held) and of the places where it takes them (cached_locks).
 * Writer:  the thread itself. Reader: it, and the inline functions of held_locks.h.
 * Must not: be used for another thread.
 *
 * A lock is let go by whoever took it, mostly the last one first: so it is found among the latest held, and not
 * looked up. A place takes the same lock again, or another one of an aggregate record: what is known of that (struct
 * qzl_cached_lock) needs no look-up either.
 */
#include "held_locks.h"
#include "yield_places.h"
#include "waits.h"
#include "publisher/private.h"

QZI_READ_OFTEN uint32_t qzl_generation = 2;

/* Without a look at what is there: the thread's locks may be many, and those of an epoch that is over are not on the
 * stack. */
static bool place(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address) {
  if (__builtin_expect(me->held_epoch != qzi_pub_epoch, 0)) {
    me->held_count = 0;
    me->timed_now = 0;
    me->held_epoch = qzi_pub_epoch;
  }
  bool aggregate = index & QZI_PUB_SHARED;
  if (me->held_count >= (aggregate ? QZL_HELD : QZL_HELD_OWN))
    return !aggregate; /* those of their own are found by their address */
  me->held[me->held_count++] = (struct qzl_held_lock){(uint64_t)(uintptr_t)address | aggregate, key};
  return true;
}

static uint64_t taken_of(uint32_t index, const void *address) {
  return index & QZI_PUB_SHARED ? QZL_AGGREGATE : (uint64_t)(uintptr_t)address;
}

/* From now on this place is known. The generation comes last: a signal handler may take locks, too. */
__attribute__((noinline)) static void know(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site,
                                           const void *address) {
  const struct qz_call *call = me->pub.calls ? qzi_call_slot((uint64_t)(uintptr_t)me->pub.calls, site, key)
                               : me->counts  ? qzi_call_small(me->counts, site, key)
                                             : NULL;
  uint64_t place = QZL_PLACE(site, QZ_KEY_KIND(key));
  struct qzl_cached_lock *cached = qzl_cached_lock(me, place, taken_of(index, address));
  uint32_t generation = __atomic_load_n(&qzl_generation, __ATOMIC_RELAXED);
  cached->generation = 0;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  if (!call || !me->thread.record) return;
  *cached = (struct qzl_cached_lock){.place = place,
                                     .address = taken_of(index, address),
                                     .key = key,
                                     .call = (uint32_t)((const char *)call - (const char *)me->counts)};
  __atomic_signal_fence(__ATOMIC_RELEASE);
  cached->generation = generation;
}
/* A place that takes many locks would push out what is known of others, again and again: mostly those stay that were
 * first. */
static inline bool worth_knowing(struct qzl_thread *me, uint32_t index, unsigned kind, uint64_t site,
                                 const void *address) {
  const struct qzl_cached_lock *cached = qzl_cached_lock(me, QZL_PLACE(site, kind), taken_of(index, address));
  return cached->generation != __atomic_load_n(&qzl_generation, __ATOMIC_RELAXED) || !(me->unknown++ & 15);
}

static void ask(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site, const void *address) {
  if (!index) return;
  qzl_count(me, site, key);
  if (place(me, index, key, address)) qzi_pub_push(&me->pub, &me->thread, key);
}

void qzl_ask_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  if (!qzl_is_usual(me)) qzl_look_at_regime(me); /* it may never wait */
  uint32_t index = qzl_index(me, address, kind, site);
  uint64_t key = QZI_PUB_KEY(kind, index);
  if (__builtin_expect(index & QZI_PUB_SHARED || !qzi_pub_ask_fast(&me->pub, &me->thread, index, key, site), 0))
    ask(me, index, key, site, address);
  else
    place(me, index, key, address);
  if (index && worth_knowing(me, index, kind, site, address)) know(me, index, key, site, address);
}

/* Of objects that are no locks only those with records of their own are known. */
void qzl_know(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site, const void *address) {
  if (!qzl_has_own(index)) return;
  if (worth_knowing(me, index, QZ_KEY_KIND(key), site, address)) know(me, index, key, site, address);
}
uint32_t qzl_show_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t index = qzl_own(address, kind, site, 0);
  uint64_t key = QZI_PUB_KEY(kind, index);
  qzl_show(me, index, key, site);
  qzl_know(me, index, key, site, address);
  return index;
}
void qzl_count_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t index = qzl_index(me, address, kind, site);
  uint64_t key = QZI_PUB_KEY(kind, index);
  if (!index) return;
  qzl_count(me, site, key);
  qzl_know(me, index, key, site, address);
}

/* The latest entry of that lock; NULL: none. */
static struct qzl_held_lock *latest(struct qzl_thread *me, const void *address) {
  for (uint32_t k = me->held_count; k-- > 0;)
    if ((me->held[k].address & ~UINT64_C(3)) == (uint64_t)(uintptr_t)address) return &me->held[k];
  return NULL;
}
bool qzl_write_at_release_slow(struct qzl_thread *me, const void *address) {
  struct qzl_held_lock *found = latest(me, address);
  if (found)
    found->address |= 2;
  else
    qzl_write_waited(me);
  return found != NULL;
}
static uint64_t known(const void *address, unsigned kind, uint32_t *index) {
  *index = qzl_known(address);
  return *index ? QZI_PUB_KEY(kind, *index) : 0;
}

uint64_t qzl_held(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index) {
  struct qzl_held_lock *found = latest(me, address);
  if (!found) return known(address, kind, index);
  struct qzl_held_lock its = *found;
  for (struct qzl_held_lock *last = &me->held[--me->held_count]; found < last; found++) *found = found[1];
  *index = its.address & 1 ? 0 : QZ_KEY_INDEX(its.key);
  return its.key;
}

uint64_t qzl_asked(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index) {
  const struct qzl_held_lock *found = latest(me, address);
  if (!found) return known(address, kind, index);
  *index = QZ_KEY_INDEX(found->key) | (found->address & 1 ? QZI_PUB_SHARED : 0);
  return found->key;
}

void qzl_kept(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address) {
  if (key) place(me, index ? index : QZI_PUB_SHARED, key, address);
}

void qzl_hold_again(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address) {
  if (key && place(me, index ? index : QZI_PUB_SHARED, key, address)) qzi_pub_push(&me->pub, &me->thread, key);
}

void qzl_wait_failed(struct qzl_thread *me, uint32_t index, const void *address, unsigned kind) {
  uint32_t unused;
  if (!index) return;
  if (qzi_publishing()) __atomic_fetch_add(&QZI_PUB_OBJECT(index)->failed, 1, __ATOMIC_RELAXED);
  qzl_pop(me, qzl_held(me, address, kind, &unused));
}

uint32_t qzl_promote(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t index;
  qzl_asked(me, address, kind, &index);
  if (!(index & QZI_PUB_SHARED)) return index;
  uint32_t own = qzl_own(address, kind, site, 0);
  if (!own || own & QZI_PUB_SHARED) return index;
  qzl_wait_failed(me, index, address, kind);
  ask(me, own, QZI_PUB_KEY(kind, own), site, address);
  return own;
}

void qzl_tried_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, int failed) {
  struct qz_thread *record = me->thread.record;
  if (!record) return;
  if (failed) qzl_tries(me);
  uint64_t before = record->tries,
           object = failed ? (uint64_t)(qzl_own(address, kind, site, 0) & ~QZI_PUB_SHARED) << 32 : 0;
  qzi_pub_store(&record->tries, object && before >> 32 == object >> 32 ? before + 1 : object | (object != 0));
}
