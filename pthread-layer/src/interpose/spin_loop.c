/* Loops that wait without a lock: marked by the program (QZ_SPIN_BEGIN, QZ_SPIN_END), or of calls to sched_yield.
 *
 * Owns:    qzl_thread.marked. Writer: the calling thread. Reader: the sampler.
 * Must not: take a thread that yields between pieces of work for one that waits.
 */
#include <errno.h>
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/path.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"
#include "pthread-layer/src/state/yield_places.h"

void (*qzl_next_spin_begin)(const void *), (*qzl_next_spin_end)(const void *);

QZL_EXPORT void qz_spin_begin(const void *object);
QZL_EXPORT void qz_spin_begin(const void *object) {
  if (qzl_next_spin_begin) {
    qzl_next_spin_begin(object);
    return;
  }
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here()) || me->marked) return;
  uint64_t site = QZL_SITE();
  uint32_t index = qzi_pub_loop(&me->pub, site, object);
  if (!index) return;
  me->marked = index;
  me->marked_since = qzi_pub_ticks();
  qzl_show(me, index, QZI_PUB_KEY(QZ_KIND_LOOP, index), site);
  qzi_pub_thread_state(&me->pub, &me->thread, QZ_STATE_SPINNING, index);
}

QZL_EXPORT void qz_spin_end(const void *object);
QZL_EXPORT void qz_spin_end(const void *object) {
  if (qzl_next_spin_end) {
    qzl_next_spin_end(object);
    return;
  }
  struct qzl_thread *me = qzl_self;
  if (!me || !me->marked) return;
  struct qzl_wait wait = {.me = me, .index = me->marked, .begin = me->marked_since};
  me->marked = 0;
  qzl_spin_end(&wait);
  qzi_pub_acquired_shared(wait.index);
  qzl_hide(me, wait.index, QZI_PUB_KEY(QZ_KIND_LOOP, wait.index));
}

/* ---- sched_yield ---- */

/* One more unsuccessful poll: of the lock that the thread tries, else of what this place waits for. Returns the
 * record of that; 0: it has worked before. */
static uint32_t polls(struct qzl_thread *me, uint64_t site, bool just) {
  struct qz_thread *record = me->thread.record;
  if (!record) return 0;
  if (!just) { /* work between */
    if (record->tries) qzi_pub_store(&record->tries, 0);
    return 0;
  }
  uint64_t before = record->tries;
  if (!before) before = (uint64_t)(qzi_pub_loop(&me->pub, site, NULL) & ~QZI_PUB_SHARED) << 32;
  if (before) qzi_pub_store(&record->tries, before + 1);
  return (uint32_t)(before >> 32);
}

/* A yield that is part of a wait for one of these objects. Who lets it go leaves the chain of the time path there. */
static int yield_waiting(struct qzl_thread *me, const uint32_t *objects, unsigned count) {
  const struct qz_object *object = QZI_PUB_OBJECT(objects[0]);
  const uint32_t kind = object->kind;
  /* Of a futex, the marker tells the sampler that this is another wait than the one before. */
  const uint64_t key = kind == QZ_KIND_FUTEX ? QZ_KEY_MARKER : QZ_KEY(kind, objects[0]);
  const unsigned futile = kind != QZ_KIND_FUTEX || qzl_yields_are_futile(me->yields.site) ? QZ_STATE_FUTILE : 0;
  uint64_t let_go = __atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED);
  struct qzl_wait wait;
  qzi_pub_push(&me->pub, &me->thread, key);
  qzl_wait_begin(&wait, me, objects[0], QZ_STATE_BLOCKED | QZ_STATE_YIELDS | futile | QZ_STATE_LET_GO(let_go));
  qzl_yield_waits(1);
  int result = qzl_real.sched_yield();
  qzl_yield_waits(-1);
  wait.then = qzl_path_youngest(objects + 1, count - 1);
  qzl_wait_end(&wait, 0);
  if (kind == QZ_KIND_FUTEX) qzl_yield_waited(me, objects[0], wait.begin);
  if (kind == QZ_KIND_FUTEX && __atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED) != let_go)
    qzl_yield_let_go(me);
  qzl_pop(me, key);
  return result;
}

/* Whether it is in a wait that the layer reports already (a lock of LLVM's OpenMP, whose library yields for all of its
 * waits in one place): its yields are part of that. */
static inline bool is_waiting(const struct qzl_thread *me) {
  const struct qz_thread *record = me->thread.record;
  return record && QZ_STATE_OF(__atomic_load_n(&record->state, __ATOMIC_RELAXED)) == QZ_STATE_BLOCKED;
}

QZL_EXPORT int sched_yield(void) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here()) || me->marked || is_waiting(me)) return qzl_real.sched_yield();
  uint64_t site = QZL_SITE();
  uint32_t objects[QZL_YIELD_WORDS];
  bool just = qzl_has_just_yielded(me) || qzl_has_just_tried(me);
  unsigned count = qzl_yield_begin(me, site, objects);
  if (!count) count = (objects[0] = polls(me, site, just)) != 0;
  const uint64_t began = qz_cycles();
  int result = count ? yield_waiting(me, objects, count) : qzl_real.sched_yield();
  qzl_yield_end(me, began);
  return result;
}
