/* Condition variable.
 *
 * Owns:    struct qz_cond: a queue of waiters under an internal lock.
 * Writer:  waiters and signalling threads, under that lock.
 * Must not: lose a signal between the release of the mutex and the park: the waiter is queued before it releases the
 * mutex.
 *
 * A signal makes the thread that has waited longest ready on the signaller's processor, where it usually runs after the
 * signaller has released the mutex.
 */
#include "sync.h"
#include "mutex.h"

struct cond {
  struct qzi_object object;
  qzi_spinlock lock;
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct cond) <= sizeof(qz_cond), "qz_cond");

int qz_cond_init(qz_cond *condition, const char *name) {
  struct cond *cond = (struct cond *)condition;
  *cond = (struct cond){0};
  qzi_object_init(&cond->object, QZ_KIND_CONDITION, name, QZ_BLOCK, QZI_CALLER());
  return 0;
}

int qz_cond_destroy(qz_cond *condition) {
  struct cond *cond = (struct cond *)condition;
  qzi_object_check(&cond->object, QZI_CALLER());
  qzi_lock(&cond->lock);
  bool used = !qzi_queue_empty(&cond->queue);
  if (!used) qzi_object_destroy(&cond->object, QZ_KIND_CONDITION, QZI_CALLER());
  qzi_unlock(&cond->lock);
  return used ? EBUSY : 0;
}

/* The mutex leaves the profile stack when it is released and returns when it is requested again; in between the
 * condition is on top. */
static int wait(struct cond *cond, qz_mutex *mutex, uint64_t deadline_ns, uint64_t place) {
  struct qzi_thread *self = qzi_self();
  qzi_object_check(&cond->object, place);
  if (!qzi_mutex_holds(mutex, self)) return EPERM;
  struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), NULL);
  qzi_pub_object(&cond->object.pub, QZ_KIND_CONDITION, cond, place, 0); /* may take some time, so not under the lock */
  qzi_lock(&cond->lock);
  struct qzi_thread *next = qzi_mutex_let_go(mutex, self);
  uint32_t index = qzi_ask(&cond->object, QZ_KIND_CONDITION, cond, self, place, 0);
  if (index && next) qzi_lets_go(next); /* when `next` is made ready, another thread runs on this processor */
  bool woken = qzi_wait_and_ready(&cond->queue, &cond->object, QZ_KIND_CONDITION, &cond->lock, me, deadline_ns, next);
  qzi_take_off(index, QZ_KIND_CONDITION, self);
  qzi_mutex_retake(mutex, self, place);
  return woken ? 0 : ETIMEDOUT;
}

int qz_cond_wait(qz_cond *cond, qz_mutex *mutex) { return wait((struct cond *)cond, mutex, QZI_NEVER, QZI_CALLER()); }

int qz_cond_timedwait(qz_cond *cond, qz_mutex *mutex, const struct timespec *realtime) {
  uint64_t deadline_ns;
  int error = qzi_until(CLOCK_REALTIME, realtime, &deadline_ns);
  return error ? error : wait((struct cond *)cond, mutex, deadline_ns, QZI_CALLER());
}

int qz_cond_clockwait(qz_cond *cond, qz_mutex *mutex, int clock, const struct timespec *time) {
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : wait((struct cond *)cond, mutex, deadline_ns, QZI_CALLER());
}

static int wake(struct cond *cond, bool all, uint64_t place) {
  struct qzi_publisher *publisher = qzi_publisher_self();
  qzi_object_check(&cond->object, place);
  uint32_t index = qzi_pub_object(&cond->object.pub, QZ_KIND_CONDITION, cond, place, 0);
  if (index) qzi_pub_count(publisher, place, QZI_PUB_KEY(QZ_KIND_CONDITION, index));
  qzi_lock(&cond->lock);
  struct qzi_waiter *woken;
  if (all) {
    woken = qzi_queue_take_all(&cond->queue, &cond->object, true);
  } else if ((woken = qzi_queue_take(&cond->queue, &cond->object))) {
    uint64_t now = 0;
    qzi_wait_ends(&cond->object, woken, true, &now);
    qzi_pub_acquired(index, NULL);
  }
  qzi_unlock(&cond->lock);
  if (all)
    qzi_wake_list(woken);
  else
    qzi_wake(woken);
  return 0;
}

int qz_cond_signal(qz_cond *condition) {
  struct cond *cond = (struct cond *)condition;
  if (qzi_plain() && QZI_LIKELY(cond->object.kind != QZI_KIND_DESTROYED)) {
    struct qzi_waiter *first = qzi_queue_head(&cond->queue);
    if (!first) return 0;
    if (first->plain) return qzi_give_alone(&cond->queue, &cond->object, first);
  }
  return wake(cond, false, QZI_CALLER());
}
int qz_cond_broadcast(qz_cond *cond) { return wake((struct cond *)cond, true, QZI_CALLER()); }
