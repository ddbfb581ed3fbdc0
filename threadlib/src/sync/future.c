/* Future: a value that is set once, and that any number of threads can wait for.
 *
 * Owns:    struct qz_future: the value, whether it is set, and a queue under an internal lock.
 * Writer:  the holder of the internal lock; `value` is constant once `set` is 1 (stored last).
 * Must not: take the lock if the value is set and nothing is published.
 */
#include "sync.h"

struct future {
  struct qzi_object object;
  qzi_spinlock lock;
  uint32_t set;
  void *value;
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct future) <= sizeof(qz_future), "qz_future");

int qz_future_init(qz_future *future, const char *name) {
  struct future *f = (struct future *)future;
  *f = (struct future){0};
  qzi_object_init(&f->object, QZ_KIND_JOIN, name, QZ_BLOCK, QZI_CALLER());
  return 0;
}

int qz_future_destroy(qz_future *future) {
  struct future *f = (struct future *)future;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&f->object, place);
  qzi_lock(&f->lock);
  bool used = !qzi_queue_empty(&f->queue);
  if (!used) qzi_object_destroy(&f->object, QZ_KIND_JOIN, place);
  qzi_unlock(&f->lock);
  return used ? EBUSY : 0;
}

int qz_future_set(qz_future *future, void *value) {
  struct future *f = (struct future *)future;
  uint64_t place = QZI_CALLER();
  struct qzi_publisher *publisher = qzi_publisher_self();
  qzi_object_check(&f->object, place);
  uint32_t index = qzi_pub_object(&f->object.pub, QZ_KIND_JOIN, f, place, 0);
  if (index) {
    qzi_pub_count(publisher, place, QZI_PUB_KEY(QZ_KIND_JOIN, index));
    if (qzi_spanning() && !f->set) qzi_span_leave_with(publisher, index);
  }
  qzi_lock(&f->lock);
  bool again = f->set;
  struct qzi_waiter *woken = NULL;
  if (!again) {
    f->value = value;
    __atomic_store_n(&f->set, 1, __ATOMIC_RELEASE);
    struct qzi_waiter *waiter = qzi_queue_head(&f->queue);
    for (uint32_t i = 0; i < f->object.waiting; i++, waiter = waiter->next)
      waiter->item = value; /* so waiters need not read the future again */
    woken = qzi_queue_take_all(&f->queue, &f->object, true);
  }
  qzi_unlock(&f->lock);
  qzi_wake_list(woken);
  return again ? EBUSY : 0;
}

static int get(struct future *f, void **value, uint64_t deadline_ns, uint64_t place) {
  qzi_object_check(&f->object, place);
  if (!qzi_publishing() && QZI_LIKELY(__atomic_load_n(&f->set, __ATOMIC_ACQUIRE))) {
    if (value) *value = f->value;
    return 0;
  }
  struct qzi_thread *self = qzi_self();
  uint32_t index = qzi_ask(&f->object, QZ_KIND_JOIN, f, self, place, 0);
  int error = 0;
  qzi_lock(&f->lock);
  if (f->set) {
    if (value) *value = f->value;
    qzi_pub_acquired(index, NULL);
    if (index && qzi_spanning()) qzi_span_take_from(qzi_publisher_self(), index);
    qzi_unlock(&f->lock);
  } else if (!deadline_ns) {
    qzi_unlock(&f->lock);
    error = EAGAIN;
  } else {
    struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), NULL);
    if (!qzi_wait(&f->queue, &f->object, QZ_KIND_JOIN, &f->lock, me, deadline_ns))
      error = ETIMEDOUT;
    else if (value)
      *value = me->item;
  }
  qzi_take_off(index, QZ_KIND_JOIN, self);
  return error;
}

static int get_until(qz_future *future, void **value, int clock, const struct timespec *time, uint64_t place) {
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : get((struct future *)future, value, deadline_ns ? deadline_ns : 1, place);
}

int qz_future_get(qz_future *future, void **value) {
  return get((struct future *)future, value, QZI_NEVER, QZI_CALLER());
}
int qz_future_tryget(qz_future *future, void **value) { return get((struct future *)future, value, 0, QZI_CALLER()); }
int qz_future_timedget(qz_future *future, void **value, const struct timespec *realtime) {
  return get_until(future, value, CLOCK_REALTIME, realtime, QZI_CALLER());
}
int qz_future_clockget(qz_future *future, void **value, int clock, const struct timespec *time) {
  return get_until(future, value, clock, time, QZI_CALLER());
}
