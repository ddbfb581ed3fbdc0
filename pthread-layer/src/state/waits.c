/* Waits for objects. See waits.h. */
#include "waits.h"
#include <errno.h>
#include "publisher/private.h"

void qzl_write_waited_slow(struct qzl_thread *me) {
  uint32_t index = me->waited.index;
  me->waited.index = 0;
  if (me->waited.epoch == qzi_pub_epoch) qzi_pub_waited(index, me->waited.ns, me->waited.spin_ns);
}

/* What is published from now on, as far as a wait is concerned. First the number of that: where it changes meanwhile,
 * the thread looks again. */
void qzl_look_at_regime(struct qzl_thread *me) {
  if (__builtin_expect(qzi_pub_exact_hold, 0)) { /* as with work and span: most waits come here */
    me->usual = 0;
    return;
  }
  uint32_t regime = __atomic_load_n(&qzl_regime, __ATOMIC_ACQUIRE), number = me->thread.index_plus_1;
  const struct qz_thread *record = me->thread.record;
  bool usual = qzi_publishing() && record && record->epoch == qzi_pub_epoch && number && qzi_session.marks &&
               me->pub.path && !me->pub.span && !qzi_pub_exact_hold && qzi_pub_ticks_scale();
  if (usual) me->mark = &qzi_session.marks[qz_mark_at(number - 1)];
  __atomic_signal_fence(__ATOMIC_RELEASE); /* a signal handler may wait, too */
  me->usual = usual ? regime : 0;
}

void qzl_wait_from(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state) {
  qzl_look_at_regime(me);
  qzl_write_waited(me);
  wait->me = me;
  wait->index = index;
  wait->then = 0;
  wait->slot = 0;
  wait->own = false;
  wait->left = qzl_has_own(index) ? __atomic_load_n(&QZI_PUB_OBJECT(index)->chain[0].ticks, __ATOMIC_RELAXED) : 0;
  wait->begin = qzi_pub_ticks();
  if (me->thread.record)
    __atomic_store_n(&me->thread.record->frame, (uint64_t)(uintptr_t)&wait->frame, __ATOMIC_RELEASE);
  if (QZ_STATE_OF(state) == QZ_STATE_BLOCKED) qzi_pub_queue_add(index, 1);
  if (!qzi_publishing()) return;
  qzi_pub_thread_state(&me->pub, &me->thread, state, index);
  qzi_session_mark(me->thread.index_plus_1);
}

#define LOOK_NS UINT64_C(100000000)
QZI_READ_OFTEN uint64_t qzl_look_due;
/* Also the time to see whether the sampler is still there: who waits has it. */
void qzl_look_at_channel(uint64_t now) {
  uint64_t at = __atomic_load_n(&qzl_look_due, __ATOMIC_RELAXED);
  if (__builtin_expect((int64_t)(now - at) < 0, 1)) return;
  int error = errno;
  if (__atomic_compare_exchange_n(&qzl_look_due, &at, now + qzi_pub_ticks_of(LOOK_NS), false, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED))
    qzi_channel_look();
  errno = error;
}
void qzl_wait_count_rest(struct qz_object *object, uint64_t ns, uint64_t now) {
  qzi_pub_waited_most(object, ns);
  qzl_look_at_channel(now);
}

enum counted { NOT, NOW, LATER };
/* In all cases. */
__attribute__((noinline)) static void over(struct qzl_wait *wait, enum counted counted, int spun) {
  uint64_t now = qzi_pub_ticks(), ns = qzi_pub_ticks_ns(wait->begin, now);
  if (!spun) qzi_pub_queue_add(wait->index, -1);
  if (counted == NOW) qzi_pub_waited(wait->index, ns, spun ? ns : 0);
  if (counted == LATER) {
    wait->me->waited.index = wait->index;
    wait->me->waited.epoch = qzi_pub_epoch;
    wait->me->waited.ns = ns;
    wait->me->waited.spin_ns = spun ? ns : 0;
  }
  uint32_t marked = wait->me->marked;
  if (qzi_publishing()) {
    qzl_path_waited(wait);
    qzi_pub_thread_state(&wait->me->pub, &wait->me->thread, marked ? QZ_STATE_SPINNING : QZ_STATE_USEFUL, marked);
    qzi_session_mark(wait->me->thread.index_plus_1);
  }
  qzl_look_at_channel(now);
}

/* The same, where that suffices. */
__attribute__((always_inline)) static inline void ends(struct qzl_wait *wait, enum counted counted, int spun) {
  struct qzl_thread *me = wait->me;
  uint32_t index = wait->index;
  if (__builtin_expect(!qzl_is_usual_still(me) || !qzl_has_own(index) || me->marked || wait->then, 0)) {
    over(wait, counted, spun);
    return;
  }
  struct qz_object *object = &qzi_pub_objects[index];
  uint64_t now = qz_cycles(), ns = qzl_usual_ns(wait, now);
  if (!spun) __atomic_fetch_sub(&object->queue, 1, __ATOMIC_RELAXED);
  if (counted == LATER) qzl_wait_later(me, index, ns, spun ? ns : 0);
  qzl_path_usual(wait, me, object);
  qzl_usual_useful(me);
  if (counted == NOW)
    qzl_wait_count(object, ns, spun ? ns : 0, now);
  else
    qzl_look_if_due(now);
}
void qzl_wait_end(struct qzl_wait *wait, int counted) {
  if (counted)
    ends(wait, NOW, 0);
  else
    ends(wait, NOT, 0);
}
void qzl_wait_end_later(struct qzl_wait *wait) { ends(wait, LATER, 0); }
void qzl_spin_end(struct qzl_wait *wait) { over(wait, NOW, 1); }
void qzl_spin_end_later(struct qzl_wait *wait) { ends(wait, LATER, 1); }
