/* Barrier.
 *
 * Owns:    struct qz_barrier: the number of arrivals, the round, and a queue under an internal lock.
 * Writer:  the holder of the internal lock. Spinning threads read `round` without it.
 * Must not: spin if there are more parties than processors: a missing thread may need this processor. Nor if there are
 * more parties than CPUs, unless the policy is QZ_SPIN.
 */
#include "sync.h"

struct barrier {
  struct qzi_object object;
  qzi_spinlock lock;
  uint32_t parties, arrived;
  uint32_t round;
  uint32_t spinners; /* number of threads that may still read `round` */
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct barrier) <= sizeof(qz_barrier), "qz_barrier");

int qz_barrier_init(qz_barrier *barrier, const char *name, unsigned parties, qz_policy policy) {
  if (parties == 0 || (policy != QZ_ADAPTIVE && policy != QZ_BLOCK && policy != QZ_SPIN)) return EINVAL;
  struct barrier *b = (struct barrier *)barrier;
  *b = (struct barrier){.parties = parties};
  qzi_object_init(&b->object, QZ_KIND_BARRIER, name, policy, QZI_CALLER());
  return 0;
}

int qz_barrier_destroy(qz_barrier *barrier) {
  struct barrier *b = (struct barrier *)barrier;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&b->object, place);
  qzi_lock(&b->lock);
  bool used = b->arrived != 0;
  qzi_unlock(&b->lock);
  if (used) return EBUSY;
  for (unsigned tries = 0; __atomic_load_n(&b->spinners, __ATOMIC_ACQUIRE); tries++) qzi_relax(tries);
  qzi_object_destroy(&b->object, QZ_KIND_BARRIER, place);
  return 0;
}

/* Spins; returns true if the round ended. */
static bool spin(struct barrier *b, struct qzi_thread *self, uint32_t round, uint32_t index) {
  struct qzi_spin spin;
  qzi_spin_begin(&spin, &b->object, b->object.policy, QZI_NEVER);
  bool done;
  while (!(done = __atomic_load_n(&b->round, __ATOMIC_ACQUIRE) != round))
    if (!qzi_spin_more(&spin)) break;
  uint64_t spin_ns = qzi_spin_end(&spin);
  if (done && index) {
    qzi_lock(&b->lock);
    qzi_pub_waited_locked(index, spin_ns, spin_ns);
    qzi_pub_acquired(index, NULL);
    qzi_unlock(&b->lock);
  }
  return done;
}

/* Work and span: no thread continues before the longest chain has arrived. Called by the last thread to arrive,
 * which releases the others. */
static __attribute__((noinline)) void all_arrived(struct barrier *b) {
  struct qzi_lanes most = {0};
  struct qzi_waiter *head = qzi_queue_head(&b->queue), *waiter = head;
  if (!head) return;
  do {
    qzi_span_max(&most, &qzi_span_of(&qzi_waiting_thread(waiter)->pub)->now);
    waiter = waiter->next;
  } while (waiter != head);
  qzi_span_get(qzi_publisher_self(), &most, 0);
}

int qz_barrier_wait(qz_barrier *barrier) {
  struct barrier *b = (struct barrier *)barrier;
  if (qzi_plain() && QZI_LIKELY(b->object.kind != QZI_KIND_DESTROYED)) {
    if (++b->arrived < b->parties) return qzi_wait_alone(&b->queue, &b->object, QZ_KIND_BARRIER, NULL);
    b->arrived = 0;
    b->round++;
    qzi_give_all_alone(&b->queue, &b->object);
    return QZ_BARRIER_SERIAL;
  }
  uint64_t place = QZI_CALLER();
  qzi_object_check(&b->object, place);
  struct qzi_thread *self = qzi_self();
  uint32_t index = qzi_use(&b->object, QZ_KIND_BARRIER, b, place, b->parties);
  int result = 0;
  qzi_lock(&b->lock);
  if (++b->arrived == b->parties) {
    b->arrived = 0;
    __atomic_store_n(&b->round, b->round + 1, __ATOMIC_RELEASE);
    if (index && qzi_spanning()) all_arrived(b);
    struct qzi_waiter *woken = qzi_queue_take_all(&b->queue, &b->object, true);
    qzi_pub_acquired(index, NULL);
    qzi_unlock(&b->lock);
    qzi_wake_list(woken);
    result = QZ_BARRIER_SERIAL;
  } else {
    bool done = false;
    qzi_ask_now(index, QZ_KIND_BARRIER, self);
    struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), NULL);
    if (b->object.policy != QZ_BLOCK && !qzi_alone &&
        b->parties <= (b->object.policy == QZ_SPIN ? qzi_processor_count() : qzi_at_once) && !qzi_spanning()) {
      uint32_t round = b->round;
      __atomic_fetch_add(&b->spinners, 1, __ATOMIC_RELAXED);
      qzi_unlock(&b->lock);
      done = spin(b, self, round, index);
      if (!done) {
        qzi_lock(&b->lock);
        done = b->round != round;
        if (done) qzi_unlock(&b->lock);
      }
      __atomic_fetch_sub(&b->spinners, 1, __ATOMIC_RELEASE);
    }
    if (!done) qzi_wait(&b->queue, &b->object, QZ_KIND_BARRIER, &b->lock, me, QZI_NEVER);
    qzi_take_off(index, QZ_KIND_BARRIER, self);
  }
  return result;
}
