/* Counting semaphore.
 *
 * Owns:    struct qz_sem: a count and a queue under an internal lock. Threads wait only while the count is 0, so a post
 *          either gives its unit to the first waiter or increments the count; no thread is overtaken.
 * Writer:  the holder of the internal lock.
 * Must not: access the semaphore after the internal lock was released: a waiter that got its unit may destroy it.
 */
#include <limits.h>
#include "sync.h"

struct sem {
  struct qzi_object object;
  qzi_spinlock lock;
  uint32_t count;
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct sem) <= sizeof(qz_sem), "qz_sem");

int qz_sem_init(qz_sem *semaphore, const char *name, unsigned value) {
  if (value > INT_MAX) return EINVAL;
  struct sem *sem = (struct sem *)semaphore;
  *sem = (struct sem){.count = value};
  qzi_object_init(&sem->object, QZ_KIND_SEMAPHORE, name, QZ_BLOCK, QZI_CALLER());
  return 0;
}

int qz_sem_destroy(qz_sem *semaphore) {
  struct sem *sem = (struct sem *)semaphore;
  qzi_object_check(&sem->object, QZI_CALLER());
  qzi_lock(&sem->lock);
  bool used = !qzi_queue_empty(&sem->queue);
  if (!used) qzi_object_destroy(&sem->object, QZ_KIND_SEMAPHORE, QZI_CALLER());
  qzi_unlock(&sem->lock);
  return used ? EBUSY : 0;
}

static int wait(struct sem *sem, uint64_t deadline_ns, uint64_t place) {
  struct qzi_thread *self = qzi_self();
  qzi_object_check(&sem->object, place);
  uint32_t index = qzi_use(&sem->object, QZ_KIND_SEMAPHORE, sem, place, 0);
  bool got = true;
  qzi_lock(&sem->lock);
  if (sem->count) {
    sem->count--;
    qzi_pub_readers(index, sem->count);
    qzi_pub_acquired(index, NULL);
    qzi_unlock(&sem->lock);
  } else {
    struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), NULL);
    qzi_ask_now(index, QZ_KIND_SEMAPHORE, self);
    got = qzi_wait(&sem->queue, &sem->object, QZ_KIND_SEMAPHORE, &sem->lock, me, deadline_ns);
    qzi_take_off(index, QZ_KIND_SEMAPHORE, self);
  }
  return got ? 0 : ETIMEDOUT;
}

int qz_sem_wait(qz_sem *semaphore) {
  struct sem *sem = (struct sem *)semaphore;
  if (qzi_plain() && QZI_LIKELY(sem->object.kind != QZI_KIND_DESTROYED)) {
    if (!sem->count) return qzi_wait_alone(&sem->queue, &sem->object, QZ_KIND_SEMAPHORE, NULL);
    sem->count--;
    return 0;
  }
  return wait(sem, QZI_NEVER, QZI_CALLER());
}

int qz_sem_trywait(qz_sem *semaphore) {
  struct sem *sem = (struct sem *)semaphore;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&sem->object, place);
  (void)qzi_self(); /* aborts if the caller is a foreign kernel thread, before the lock is taken */
  uint32_t index = qzi_use(&sem->object, QZ_KIND_SEMAPHORE, sem, place, 0);
  qzi_lock(&sem->lock);
  bool got = sem->count != 0;
  if (got) {
    sem->count--;
    qzi_pub_readers(index, sem->count);
    qzi_pub_acquired(index, NULL);
  }
  qzi_unlock(&sem->lock);
  return got ? 0 : EAGAIN;
}

int qz_sem_timedwait(qz_sem *semaphore, const struct timespec *realtime) {
  uint64_t deadline_ns;
  int error = qzi_until(CLOCK_REALTIME, realtime, &deadline_ns);
  return error ? error : wait((struct sem *)semaphore, deadline_ns, QZI_CALLER());
}

int qz_sem_clockwait(qz_sem *semaphore, int clock, const struct timespec *time) {
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : wait((struct sem *)semaphore, deadline_ns, QZI_CALLER());
}

int qz_sem_post(qz_sem *semaphore) {
  struct sem *sem = (struct sem *)semaphore;
  if (qzi_plain() && QZI_LIKELY(sem->object.kind != QZI_KIND_DESTROYED)) {
    struct qzi_waiter *first = qzi_queue_head(&sem->queue);
    if (first && first->plain) return qzi_give_alone(&sem->queue, &sem->object, first);
  }
  uint64_t place = QZI_CALLER();
  struct qzi_publisher *publisher = qzi_publisher_self();
  qzi_object_check(&sem->object, place);
  uint32_t index = qzi_pub_object(&sem->object.pub, QZ_KIND_SEMAPHORE, sem, place, 0);
  if (index) qzi_pub_count(publisher, place, QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index));
  qzi_lock(&sem->lock);
  int error = 0;
  struct qzi_waiter *waiter = qzi_queue_take(&sem->queue, &sem->object);
  if (waiter) {
    qzi_pub_acquired(index, NULL);
    uint64_t now = 0;
    qzi_wait_ends(&sem->object, waiter, true, &now);
  } else if (sem->count == INT_MAX) {
    error = EOVERFLOW;
  } else {
    sem->count++;
    qzi_pub_readers(index, sem->count);
  }
  qzi_unlock(&sem->lock);
  qzi_wake(waiter);
  return error;
}

int qz_sem_value(qz_sem *semaphore) {
  struct sem *sem = (struct sem *)semaphore;
  qzi_object_check(&sem->object, QZI_CALLER());
  return (int)__atomic_load_n(&sem->count, __ATOMIC_RELAXED);
}
