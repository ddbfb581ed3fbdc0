/* Read-write lock.
 *
 * Owns:    struct qz_rwlock: holders and one queue of readers and writers, under an internal lock.
 * Writer:  the holder of the internal lock.
 * Must not: let a reader overtake a waiting writer, or a writer a waiting reader: the lock is granted in the order of
 * the queue, to all readers at its head at once. So neither side starves. (A thread that holds a read lock must not
 * request another one: a writer may have queued in between.)
 */
#include "sync.h"

struct rwlock {
  struct qzi_object object;
  qzi_spinlock lock;
  uint32_t readers;
  struct qzi_thread *writer;
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct rwlock) <= sizeof(qz_rwlock), "qz_rwlock");

int qz_rwlock_init(qz_rwlock *lock, const char *name) {
  struct rwlock *rw = (struct rwlock *)lock;
  *rw = (struct rwlock){0};
  qzi_object_init(&rw->object, QZ_KIND_RWLOCK, name, QZ_BLOCK, QZI_CALLER());
  return 0;
}

int qz_rwlock_destroy(qz_rwlock *lock) {
  struct rwlock *rw = (struct rwlock *)lock;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&rw->object, place);
  qzi_lock(&rw->lock);
  bool used = rw->readers || rw->writer || !qzi_queue_empty(&rw->queue);
  if (!used) qzi_object_destroy(&rw->object, QZ_KIND_RWLOCK, place);
  qzi_unlock(&rw->lock);
  return used ? EBUSY : 0;
}

/* Takes the lock if that is possible without waiting. Under the internal lock. */
static bool take(struct rwlock *rw, struct qzi_thread *self, bool write, uint32_t index) {
  if (rw->writer || !qzi_queue_empty(&rw->queue) || (write && rw->readers)) return false;
  if (write) {
    rw->writer = self;
    qzi_pub_acquired(index, &self->pub);
  } else {
    rw->readers++;
    qzi_pub_readers(index, rw->readers);
    qzi_pub_acquired(index, NULL);
  }
  return true;
}

static struct qzi_waiter *give(struct rwlock *rw);

/* deadline_ns 0: does not wait. */
static int acquire(struct rwlock *rw, bool write, uint64_t deadline_ns, uint64_t place) {
  qzi_object_check(&rw->object, place);
  struct qzi_thread *self = qzi_self();
  uint32_t index = qzi_ask(&rw->object, QZ_KIND_RWLOCK, rw, self, place, 0);
  int error = 0;
  qzi_lock(&rw->lock);
  if (take(rw, self, write, index)) {
    qzi_unlock(&rw->lock);
    return 0;
  }
  if (deadline_ns && rw->writer == self)
    error = EDEADLK;
  else if (!deadline_ns)
    error = EBUSY;
  if (error) {
    qzi_unlock(&rw->lock);
  } else {
    struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), write ? rw : NULL);
    if (!qzi_wait(&rw->queue, &rw->object, QZ_KIND_RWLOCK, &rw->lock, me, deadline_ns)) {
      error = ETIMEDOUT;
      qzi_lock(&rw->lock); /* a writer that gives up may have kept later readers waiting */
      struct qzi_waiter *woken = give(rw);
      qzi_unlock(&rw->lock);
      qzi_wake_list(woken);
    }
  }
  if (error) qzi_take_off(index, QZ_KIND_RWLOCK, self);
  return error;
}

static int acquire_until(qz_rwlock *lock, bool write, int clock, const struct timespec *time, uint64_t place) {
  struct rwlock *rw = (struct rwlock *)lock;
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : acquire(rw, write, deadline_ns ? deadline_ns : 1, place);
}

int qz_rwlock_rdlock(qz_rwlock *lock) { return acquire((struct rwlock *)lock, false, QZI_NEVER, QZI_CALLER()); }
int qz_rwlock_tryrdlock(qz_rwlock *lock) { return acquire((struct rwlock *)lock, false, 0, QZI_CALLER()); }
int qz_rwlock_timedrdlock(qz_rwlock *lock, const struct timespec *realtime) {
  return acquire_until(lock, false, CLOCK_REALTIME, realtime, QZI_CALLER());
}
int qz_rwlock_clockrdlock(qz_rwlock *lock, int clock, const struct timespec *time) {
  return acquire_until(lock, false, clock, time, QZI_CALLER());
}
int qz_rwlock_wrlock(qz_rwlock *lock) { return acquire((struct rwlock *)lock, true, QZI_NEVER, QZI_CALLER()); }
int qz_rwlock_trywrlock(qz_rwlock *lock) { return acquire((struct rwlock *)lock, true, 0, QZI_CALLER()); }
int qz_rwlock_timedwrlock(qz_rwlock *lock, const struct timespec *realtime) {
  return acquire_until(lock, true, CLOCK_REALTIME, realtime, QZI_CALLER());
}
int qz_rwlock_clockwrlock(qz_rwlock *lock, int clock, const struct timespec *time) {
  return acquire_until(lock, true, clock, time, QZI_CALLER());
}

/* Grants the lock to waiters at the head of the queue as far as possible. Returns the list of threads to be woken.
 * Under the internal lock. */
static struct qzi_waiter *give(struct rwlock *rw) {
  uint32_t index = qzi_object_index(&rw->object);
  struct qzi_waiter *waiter, *first = NULL, **end = &first;
  uint64_t now = 0;
  while (!rw->writer && (waiter = qzi_queue_head(&rw->queue))) {
    bool write = waiter->item != NULL;
    if (write && rw->readers) break;
    qzi_queue_remove(&rw->queue, waiter);
    rw->object.waiting--;
    qzi_pub_queue(index, rw->object.waiting);
    if (!qzi_waiter_claim(waiter)) continue;
    if (write) {
      rw->writer = qzi_waiting_thread(waiter);
      qzi_pub_acquired(index, &qzi_waiting_thread(waiter)->pub);
    } else {
      rw->readers++;
      qzi_pub_readers(index, rw->readers);
      qzi_pub_acquired(index, NULL);
    }
    qzi_wait_ends(&rw->object, waiter, true, &now);
    *end = waiter;
    end = &waiter->next;
  }
  *end = NULL;
  return first;
}

int qz_rwlock_unlock(qz_rwlock *lock) {
  struct rwlock *rw = (struct rwlock *)lock;
  qzi_object_check(&rw->object, QZI_CALLER());
  struct qzi_thread *self = qzi_self();
  qzi_lock(&rw->lock);
  uint32_t index = qzi_object_index(&rw->object);
  int error = 0;
  if (rw->writer == self) {
    qzi_pub_released(index);
    rw->writer = NULL;
  } else if (rw->readers) {
    rw->readers--;
    qzi_pub_readers(index, rw->readers);
  } else {
    error = EPERM;
  }
  struct qzi_waiter *woken = !error && !qzi_queue_empty(&rw->queue) ? give(rw) : NULL;
  qzi_unlock(&rw->lock);
  qzi_wake_list(woken);
  if (!error) qzi_take_off(index, QZ_KIND_RWLOCK, self);
  return error;
}

const struct qzi_thread *qzi_rwlock_holder(const struct qzi_object *object) {
  return ((const struct rwlock *)object)->writer;
}
