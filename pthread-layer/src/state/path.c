/* The time path of kernel threads: chains that go through objects and ended threads (docs/reference/path.md).
 *
 * Owns:    the chains of threads that have ended, by their number.
 * Writer:  who lets others go on (an object's chain), a thread that ends. Reader: who has waited, right afterwards.
 * Must not: do anything where nobody waits: a free lock stays free of all this.
 *
 * Who lets go does not know whom. So it leaves its chain with the object, before the real call; who comes out of a wait
 * takes it from there, if it is younger than the wait.
 */
#include "path.h"
#include "yield_places.h"
#include <sched.h>
#include "abi/hash.h"
#include "publisher/private.h"

#define ENDED 4096u /* a power of two */
static struct ended {
  uint64_t id, word, ticks; /* id: stored last */
  _Atomic uint32_t lock;    /* of those below */
  pthread_t span_id;
  struct qzi_span_sync span;
} ended[ENDED];

/* ---- work and span: the lanes of those who let others go on, by object ---- */

#define ACTORS 1024u
static struct qzi_span_actor *actors[ACTORS]; /* by thread record; kept */
static struct left {
  _Atomic uint32_t lock;
  struct qzi_lanes lanes[2]; /* barrier: [round & 1] */
} * left;                    /* by object */

bool qzl_span_make(void) {
  if (!left) left = qzi_pub_reserve((size_t)qzi_session.objects * sizeof *left);
  return left != NULL;
}

void qzl_span_connect(struct qzl_thread *me, uint64_t used_ns) {
  uint32_t index = me->thread.index_plus_1 - 1;
  if (left && index < ACTORS && qzi_span_connect(&actors[index], index, used_ns, 0)) me->pub.span = actors[index];
}

/* Who has to wait does so for one that has lost its CPU: that is no work. */
void qzl_lock_words(_Atomic uint32_t *lock) {
  if (!atomic_exchange_explicit(lock, 1, memory_order_acquire)) return;
  uint64_t since = qzi_span_stands_since();
  while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) sched_yield();
  qzi_span_stood(since);
}
void qzl_unlock_words(_Atomic uint32_t *lock) { atomic_store_explicit(lock, 0, memory_order_release); }

/* The time in which it looks for tasks, and waits for some with its processor, is no strand. */
static void end_idling(struct qzl_thread *me) {
  if (me->idle_since) qzi_span_waited_busy(&me->pub);
}

/* first: nobody's are kept; else (at a barrier) the longest. */
static void span_leave(struct qzl_thread *me, uint32_t index, unsigned slot, bool first) {
  struct qzi_lanes lanes = {0};
  end_idling(me);
  qzi_span_put(&me->pub, &lanes);
  qzl_lock_words(&left[index].lock);
  if (first) left[index].lanes[slot] = (struct qzi_lanes){0};
  qzi_span_max(&left[index].lanes[slot], &lanes);
  qzl_unlock_words(&left[index].lock);
}
static void span_go_on(struct qzl_thread *me, uint32_t index, unsigned slot) {
  qzl_lock_words(&left[index].lock);
  struct qzi_lanes lanes = left[index].lanes[slot];
  qzl_unlock_words(&left[index].lock);
  end_idling(me);
  qzi_span_get(&me->pub, &lanes, index);
}

/* ---- */

static struct ended *ended_at(pthread_t id) { return &ended[(uint64_t)id * QZ_HASH_FACTOR >> 52 & (ENDED - 1)]; }

static inline void leave_with(struct qzl_thread *me, uint32_t index, unsigned slot, bool counts) {
  struct qz_object *object = QZI_PUB_OBJECT(index);
  qzi_pub_store(&object->chain[slot].word, qzi_path_now(me->pub.path));
  qzi_pub_store(&object->chain[slot].ticks, counts ? object->chain[slot].ticks + 1 : qzi_pub_ticks());
}

/* Of words for the kernel's futex: the index of that to which waiters were moved, and whether waiters were moved here.
 */
#define MOVED_HERE (UINT64_C(1) << 32)
static uint64_t moved(uint32_t index) {
  const struct qz_object *object = QZI_PUB_OBJECT(index);
  bool is_word = index && !(index & QZI_PUB_SHARED) && object->kind == QZ_KIND_FUTEX;
  return is_word ? __atomic_load_n(&object->arrivals, __ATOMIC_RELAXED) : 0;
}
uint32_t qzl_path_moved_to(uint32_t index) { return (uint32_t)moved(index); }
void qzl_path_moves(uint32_t from, uint32_t to) {
  if (from == to || !to || (from | to) & QZI_PUB_SHARED) return;
  qzi_pub_store(&QZI_PUB_OBJECT(from)->arrivals, (moved(from) & MOVED_HERE) | to);
  __atomic_fetch_or(&QZI_PUB_OBJECT(to)->arrivals, MOVED_HERE, __ATOMIC_RELAXED);
}

/* Who yields for a word may be shown at another one for which the same place waited. */
static bool may_yield_for(uint32_t index) {
  return qzl_some_yield() && qzl_has_own(index) && QZI_PUB_OBJECT(index)->kind == QZ_KIND_FUTEX;
}

/* In all cases. */
__attribute__((noinline)) static void leaves(struct qzl_thread *me, uint32_t index, bool counts) {
  if (!me->pub.path) return;
  if (me->pub.span) span_leave(me, index, 0, true);
  leave_with(me, index, 0, counts);
}
/* The same, where all is as usual and no crumb is due. Of several threads that count at a time one may not be counted,
 * which is enough. */
__attribute__((always_inline)) static inline void usually_leaves(struct qzl_thread *me, uint32_t index, bool counts) {
  struct qz_object *object = QZI_PUB_OBJECT(index);
  if (!qzl_is_usual(me) || __builtin_expect(me->pub.path->word < qzi_path_time(), 0)) {
    leaves(me, index, counts);
    return;
  }
  qzi_pub_store(&object->chain[0].word, me->pub.path->word);
  if (counts)
    qzi_pub_increment(&object->chain[0].ticks);
  else
    qzi_pub_store(&object->chain[0].ticks, qz_cycles());
}
void qzl_path_leaves(struct qzl_thread *me, uint32_t index) { usually_leaves(me, index, false); }
void qzl_path_counts(struct qzl_thread *me, uint32_t index) { usually_leaves(me, index, true); }
void qzl_path_lets_go(struct qzl_thread *me, uint32_t index) {
  if (qzl_path_is_awaited(index) || moved(index) & MOVED_HERE || may_yield_for(index)) qzl_path_leaves(me, index);
}

uint32_t qzl_path_youngest(const uint32_t *indices, unsigned count) {
  uint32_t found = 0;
  uint64_t latest = 0;
  for (unsigned k = 0; k < count; k++) {
    if (!indices[k] || indices[k] & QZI_PUB_SHARED) continue;
    uint64_t ticks = __atomic_load_n(&QZI_PUB_OBJECT(indices[k])->chain[0].ticks, __ATOMIC_RELAXED);
    if (ticks <= latest) continue;
    latest = ticks;
    found = indices[k];
  }
  return found;
}

unsigned qzl_path_arrives(struct qzl_thread *me, uint32_t index) {
  if (!index || index & QZI_PUB_SHARED || !me->pub.path) return 0;
  struct qz_object *object = QZI_PUB_OBJECT(index);
  uint32_t parties = __atomic_load_n(&object->capacity, __ATOMIC_RELAXED);
  uint64_t arrival = __atomic_fetch_add(&object->arrivals, 1, __ATOMIC_RELAXED);
  unsigned slot = parties ? arrival / parties & 1 : 0;
  if (me->pub.span) span_leave(me, index, slot, !parties || arrival % parties == 0);
  leave_with(me, index, slot, false);
  return slot;
}

/* Work and span: nobody goes on before the longest chain has come, the last one neither. */
void qzl_path_passed(struct qzl_thread *me, uint32_t index, unsigned slot) {
  if (qzi_publishing() && me->pub.span && index && !(index & QZI_PUB_SHARED)) span_go_on(me, index, slot);
}

void qzl_path_goes_on(struct qzl_thread *me, uint64_t word, unsigned arrival, uint64_t key) {
  struct qz_path *actor = me->pub.path;
  actor->since = qzi_path_time() | arrival;
  actor->key = key;
  qzi_pub_store(&actor->word, word);
}

/* Since when the object's chain stands there, in ticks; 0: it is older than the wait. */
static uint64_t left_since(uint32_t index, unsigned slot, uint64_t begin) {
  if (!qzl_has_own(index)) return 0;
  uint64_t ticks = __atomic_load_n(&QZI_PUB_OBJECT(index)->chain[slot].ticks, __ATOMIC_RELAXED);
  return ticks >= begin ? ticks : 0;
}
/* Of a semaphore: as if that had been at the wait's begin. */
static uint64_t counted_since(const struct qzl_wait *wait) {
  if (!qzl_has_own(wait->index)) return 0;
  const struct qz_object *object = QZI_PUB_OBJECT(wait->index);
  bool counted =
    object->kind == QZ_KIND_SEMAPHORE && __atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED) != wait->left;
  return counted ? wait->begin : 0;
}

void qzl_path_waited(const struct qzl_wait *wait) {
  struct qzl_thread *me = wait->me;
  if (wait->own) return;
  uint64_t since = left_since(wait->index, wait->slot, wait->begin);
  if (!since) since = counted_since(wait);
  uint64_t then_since = left_since(wait->then, 0, wait->begin);
  if (!me->pub.path || (!since && !then_since)) return;
  if (me->pub.span && since) span_go_on(me, wait->index, wait->slot);
  if (me->pub.span && then_since) span_go_on(me, wait->then, 0);
  uint32_t index = then_since > since ? wait->then : wait->index;
  const struct qz_object *object = QZI_PUB_OBJECT(index);
  qzl_path_takes(me, object, index == wait->index ? wait->slot : 0, QZ_KEY(object->kind, index));
}

void qzl_path_begins(struct qzl_thread *me) {
  if (!me->thread.record) return;
  me->pub.path = qzi_path_actor(me->thread.index_plus_1 - 1);
  if (me->pub.path) qzi_path_take(&me->pub, &me->thread);
  if (!qzi_spanning()) return;
  qzl_span_connect(me, 0);
  qzi_span_take(&me->pub, &me->thread);
}

void qzl_path_ends(struct qzl_thread *me) {
  if (!qzi_publishing() || !me->pub.path) return;
  struct ended *at = ended_at(me->id);
  qzi_pub_store(&at->id, 0);
  qzi_pub_store(&at->word, qzi_path_now(me->pub.path));
  qzi_pub_store(&at->ticks, qzi_pub_ticks());
  if (me->pub.span) {
    end_idling(me);
    qzi_span_give(&me->pub, &me->thread, QZ_ARRIVAL_JOINED);
    qzl_lock_words(&at->lock);
    at->span_id = me->id;
    qzi_span_result(&me->thread, &at->span);
    qzl_unlock_words(&at->lock);
  }
  __atomic_store_n(&at->id, (uint64_t)me->id, __ATOMIC_RELEASE);
}

void qzl_path_joined(struct qzl_thread *me, pthread_t id, uint64_t begin, uint64_t key, uint64_t site) {
  struct ended *at = ended_at(id);
  if (!qzi_publishing() || !me->pub.path || __atomic_load_n(&at->id, __ATOMIC_ACQUIRE) != (uint64_t)id) return;
  if (me->pub.span) {
    qzl_lock_words(&at->lock);
    struct qzi_span_sync span = at->span_id == id ? at->span : (struct qzi_span_sync){0};
    qzl_unlock_words(&at->lock);
    qzi_span_after(&me->pub, &span, site);
  }
  if (__atomic_load_n(&at->ticks, __ATOMIC_RELAXED) < begin) return; /* it had ended: nobody waited */
  qzl_path_goes_on(me, __atomic_load_n(&at->word, __ATOMIC_RELAXED), QZ_ARRIVAL_JOINED, key);
}
