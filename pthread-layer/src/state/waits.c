/* Waits for objects. See waits.h. */
#include "waits.h"
#include "path.h"
#include "publisher/private.h"

void qzl_write_waited_slow(struct qzl_thread *me) {
  uint32_t index = me->waited.index;
  me->waited.index = 0;
  if (me->waited.epoch == qzi_pub_epoch) qzi_pub_waited(index, me->waited.ns, me->waited.spin_ns);
}

void qzl_wait_from(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state) {
  qzl_write_waited(me);
  wait->me = me;
  wait->index = index;
  wait->then = 0;
  wait->slot = 0;
  wait->own = false;
  wait->begin = qzi_pub_ticks();
  if (me->thread.record)
    __atomic_store_n(&me->thread.record->frame, (uint64_t)(uintptr_t)&wait->frame, __ATOMIC_RELEASE);
  if (QZ_STATE_OF(state) == QZ_STATE_BLOCKED) qzi_pub_queue_add(index, 1);
  if (!qzi_publishing()) return;
  qzi_pub_thread_state(&me->pub, &me->thread, state, index);
  qzi_session_mark(me->thread.index_plus_1);
}

#define LOOK_NS UINT64_C(100000000)
/* Also the time to see whether the sampler is still there: who waits has it. */
static void look_at_channel(uint64_t now) {
  static _Atomic uint64_t due; /* in ticks */
  uint64_t at = atomic_load_explicit(&due, memory_order_relaxed);
  if (__builtin_expect((int64_t)(now - at) < 0, 1)) return;
  if (atomic_compare_exchange_strong(&due, &at, now + qzi_pub_ticks_of(LOOK_NS))) qzi_channel_look();
}

enum counted { NOT, NOW, LATER };
static void over(struct qzl_wait *wait, enum counted counted, int spun) {
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
  look_at_channel(now);
}
void qzl_wait_end(struct qzl_wait *wait, int counted) { over(wait, counted ? NOW : NOT, 0); }
void qzl_wait_end_later(struct qzl_wait *wait) { over(wait, LATER, 0); }
void qzl_spin_end(struct qzl_wait *wait) { over(wait, NOW, 1); }
void qzl_spin_end_later(struct qzl_wait *wait) { over(wait, LATER, 1); }
