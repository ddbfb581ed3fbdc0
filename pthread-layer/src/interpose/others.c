/* Read-write locks, spin locks, barriers, semaphores, joins.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include <errno.h>
#include <stdbool.h>
#include "pthread-layer/src/layer.h"

/* Hold times, where exact ones are wanted. */
static inline void acquired(struct qzl_thread *me, const void *lock, unsigned kind) {
  uint32_t index;
  if (__builtin_expect(!qzi_pub_exact_hold, 1)) return;
  qzl_asked(me, lock, kind, &index);
  qzl_acquired(index);
}

/* ---- read-write locks ---- */

static inline int rwlock(pthread_rwlock_t *lock, uint64_t site, bool write,
                         int (*wait_for)(pthread_rwlock_t *, clockid_t, const struct timespec *), clockid_t clock,
                         const struct timespec *until) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return wait_for(lock, clock, until);
  qzl_ask(me, lock, QZ_KIND_RWLOCK, site);
  int result = write ? qzl_real.pthread_rwlock_trywrlock(lock) : qzl_real.pthread_rwlock_tryrdlock(lock);
  if (result) {
    struct qzl_wait wait;
    uint32_t index = qzl_promote(me, lock, QZ_KIND_RWLOCK, site);
    qzl_wait_begin(&wait, me, index, QZ_STATE_BLOCKED);
    result = wait_for(lock, clock, until);
    qzl_wait_end(&wait, result == 0 || result == ETIMEDOUT);
    if (result) qzl_in_vain(me, index, lock, QZ_KIND_RWLOCK);
  }
  if (!result && write) acquired(me, lock, QZ_KIND_RWLOCK);
  return result;
}
static int read_wait(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_rdlock(lock);
}
static int read_timed(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_timedrdlock(lock, until);
}
static int read_clock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_clockrdlock(lock, clock, until);
}
static int write_wait(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_wrlock(lock);
}
static int write_timed(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_timedwrlock(lock, until);
}
static int write_clock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_rwlock_clockwrlock(lock, clock, until);
}
/* Times and clocks are checked even where the lock is free. */
static bool proper(const struct timespec *until) { return until->tv_nsec >= 0 && until->tv_nsec < 1000000000; }

QZL_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  return rwlock(lock, QZL_SITE(), false, read_wait, 0, NULL);
}
QZL_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  return rwlock(lock, QZL_SITE(), true, write_wait, 0, NULL);
}
QZL_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
  if (!proper(until)) return qzl_real.pthread_rwlock_timedrdlock(lock, until);
  return rwlock(lock, QZL_SITE(), false, read_timed, 0, until);
}
QZL_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
  if (!proper(until)) return qzl_real.pthread_rwlock_timedwrlock(lock, until);
  return rwlock(lock, QZL_SITE(), true, write_timed, 0, until);
}
static bool known_clock(clockid_t clock) { return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME; }
QZL_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  if (!known_clock(clock) || !proper(until)) return qzl_real.pthread_rwlock_clockrdlock(lock, clock, until);
  return rwlock(lock, QZL_SITE(), false, read_clock, clock, until);
}
QZL_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) {
  if (!known_clock(clock) || !proper(until)) return qzl_real.pthread_rwlock_clockwrlock(lock, clock, until);
  return rwlock(lock, QZL_SITE(), true, write_clock, clock, until);
}
static inline int try_rwlock(pthread_rwlock_t *lock, uint64_t site, bool write) {
  struct qzl_thread *me;
  int result = write ? qzl_real.pthread_rwlock_trywrlock(lock) : qzl_real.pthread_rwlock_tryrdlock(lock);
  if (!qzi_publishing() || !(me = qzl_here())) return result;
  qzl_tried(me, lock, QZ_KIND_RWLOCK, site, result != 0);
  if (result) return result;
  qzl_ask(me, lock, QZ_KIND_RWLOCK, site);
  if (write) acquired(me, lock, QZ_KIND_RWLOCK);
  return 0;
}
QZL_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) { return try_rwlock(lock, QZL_SITE(), false); }
QZL_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) { return try_rwlock(lock, QZL_SITE(), true); }
QZL_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing() || !me) return qzl_real.pthread_rwlock_unlock(lock);
  uint32_t index;
  uint64_t key = qzl_held(me, lock, QZ_KIND_RWLOCK, &index);
  qzl_released(index); /* nothing, of one that was held for reading */
  int result = qzl_real.pthread_rwlock_unlock(lock);
  if (!result)
    qzl_pop(me, key);
  else
    qzl_kept(me, index, key, lock);
  return result;
}
QZL_EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes) {
  qzl_initialized(lock, QZL_SITE());
  return qzl_real.pthread_rwlock_init(lock, attributes);
}
QZL_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
  int result = qzl_real.pthread_rwlock_destroy(lock);
  if (!result) qzl_destroyed(lock);
  return result;
}

/* ---- spin locks ---- */

QZL_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return qzl_real.pthread_spin_lock(lock);
  uint64_t site = QZL_SITE();
  qzl_ask(me, (const void *)lock, QZ_KIND_SPINLOCK, site);
  int result = qzl_real.pthread_spin_trylock(lock);
  if (result) {
    struct qzl_wait wait;
    uint32_t index = qzl_promote(me, (const void *)lock, QZ_KIND_SPINLOCK, site);
    qzl_wait_begin(&wait, me, index, QZ_STATE_SPINNING);
    result = qzl_real.pthread_spin_lock(lock);
    qzl_spin_end(&wait);
    if (result) qzl_in_vain(me, index, (const void *)lock, QZ_KIND_SPINLOCK);
  }
  if (!result) acquired(me, (const void *)lock, QZ_KIND_SPINLOCK);
  return result;
}
QZL_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock) {
  struct qzl_thread *me;
  int result = qzl_real.pthread_spin_trylock(lock);
  if (!qzi_publishing() || !(me = qzl_here())) return result;
  uint64_t site = QZL_SITE();
  qzl_tried(me, (const void *)lock, QZ_KIND_SPINLOCK, site, result != 0);
  if (result) return result;
  qzl_ask(me, (const void *)lock, QZ_KIND_SPINLOCK, site);
  acquired(me, (const void *)lock, QZ_KIND_SPINLOCK);
  return 0;
}
QZL_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing() || !me) return qzl_real.pthread_spin_unlock(lock);
  if (__builtin_expect(qzi_pub_exact_hold || !qzl_release_fast(me, (const void *)lock), 0)) {
    uint32_t index;
    uint64_t key = qzl_held(me, (const void *)lock, QZ_KIND_SPINLOCK, &index);
    qzl_released(index);
    qzl_pop(me, key);
  }
  return qzl_real.pthread_spin_unlock(lock);
}
QZL_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
  qzl_initialized((const void *)lock, QZL_SITE());
  return qzl_real.pthread_spin_init(lock, shared);
}
QZL_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock) {
  qzl_destroyed((const void *)lock);
  return qzl_real.pthread_spin_destroy(lock);
}

/* ---- barriers ---- */

QZL_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return qzl_real.pthread_barrier_wait(barrier);
  uint64_t site = QZL_SITE();
  uint32_t index = qzl_own(barrier, QZ_KIND_BARRIER, site, 0);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_BARRIER, index);
  qzl_show(me, index, key, site);
  struct qzl_wait wait;
  qzl_wait_begin(&wait, me, index, QZ_STATE_BLOCKED);
  int result = qzl_real.pthread_barrier_wait(barrier);
  /* The last one to come is the serial one, and need not wait. The barrier may be gone by now, its record is not. */
  qzl_wait_end(&wait, result == 0);
  qzi_pub_acquired_shared(index);
  qzl_hide(me, index, key);
  return result;
}
QZL_EXPORT int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                    unsigned count) {
  uint64_t site = QZL_SITE();
  int result = qzl_real.pthread_barrier_init(barrier, attributes, count);
  if (result || !qzi_publishing()) return result;
  qzl_initialized(barrier, site);
  qzl_own(barrier, QZ_KIND_BARRIER, site, count);
  return result;
}
QZL_EXPORT int pthread_barrier_destroy(pthread_barrier_t *barrier) {
  int result = qzl_real.pthread_barrier_destroy(barrier);
  if (!result) qzl_destroyed(barrier);
  return result;
}

/* ---- semaphores ---- */

struct waiting {
  struct qzl_wait wait;
  uint64_t key;
  bool counted, in_vain;
};
/* Also when the thread is cancelled in its wait. */
static void stop_waiting(struct waiting *its) {
  int error = errno;
  qzl_wait_end(&its->wait, its->counted);
  if (its->in_vain && its->wait.index && qzi_publishing())
    __atomic_fetch_add(&QZI_PUB_OBJECT(its->wait.index)->failed, 1, __ATOMIC_RELAXED);
  qzl_hide(its->wait.me, its->wait.index, its->key);
  errno = error;
}

static int sem_plain(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_wait(semaphore);
}
static int sem_timed(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_timedwait(semaphore, until);
}
static int sem_clock(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_clockwait(semaphore, clock, until);
}

static inline int sem_acquire(sem_t *semaphore, uint64_t site,
                              int (*wait_for)(sem_t *, clockid_t, const struct timespec *), clockid_t clock,
                              const struct timespec *until) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return wait_for(semaphore, clock, until);
  int error = errno;
  pthread_testcancel(); /* the real one is a cancellation point even if it need not wait */
  int result = qzl_real.sem_trywait(semaphore);
  errno = error;
  uint32_t index =
    result ? qzl_own(semaphore, QZ_KIND_SEMAPHORE, site, 0) : qzl_index(me, semaphore, QZ_KIND_SEMAPHORE, site);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index);
  if (index) qzl_count(me, site, key);
  if (!result) return 0;
  if (index) qzi_pub_push(&me->pub, &me->thread, key);
  __attribute__((cleanup(stop_waiting))) struct waiting its = {.key = key, .counted = false, .in_vain = true};
  qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
  result = wait_for(semaphore, clock, until);
  its.counted = result == 0 || errno == ETIMEDOUT;
  its.in_vain = result != 0;
  return result;
}
QZL_EXPORT int sem_wait(sem_t *semaphore) { return sem_acquire(semaphore, QZL_SITE(), sem_plain, 0, NULL); }
QZL_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  if (!proper(until)) return qzl_real.sem_timedwait(semaphore, until);
  return sem_acquire(semaphore, QZL_SITE(), sem_timed, 0, until);
}
QZL_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
  if (!known_clock(clock) || !proper(until)) return qzl_real.sem_clockwait(semaphore, clock, until);
  return sem_acquire(semaphore, QZL_SITE(), sem_clock, clock, until);
}
QZL_EXPORT int sem_trywait(sem_t *semaphore) {
  struct qzl_thread *me;
  int result = qzl_real.sem_trywait(semaphore);
  if (!qzi_publishing() || !(me = qzl_here())) return result;
  int error = errno;
  uint64_t site = QZL_SITE();
  qzl_tried(me, semaphore, QZ_KIND_SEMAPHORE, site, result != 0);
  if (!result) {
    uint32_t index = qzl_index(me, semaphore, QZ_KIND_SEMAPHORE, site);
    if (index) qzl_count(me, site, QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index));
  }
  errno = error;
  return result;
}
QZL_EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value) {
  qzl_initialized(semaphore, QZL_SITE());
  return qzl_real.sem_init(semaphore, shared, value);
}
QZL_EXPORT int sem_destroy(sem_t *semaphore) {
  qzl_destroyed(semaphore);
  return qzl_real.sem_destroy(semaphore);
}

/* ---- joins: one object for each place that joins ---- */

static int join_plain(pthread_t thread, void **result, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_join(thread, result);
}
static int join_timed(pthread_t thread, void **result, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_timedjoin_np(thread, result, until);
}
static int join_clock(pthread_t thread, void **result, clockid_t clock, const struct timespec *until) {
  return qzl_real.pthread_clockjoin_np(thread, result, clock, until);
}
static inline int join(pthread_t thread, void **value, uint64_t site,
                       int (*wait_for)(pthread_t, void **, clockid_t, const struct timespec *), clockid_t clock,
                       const struct timespec *until) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return wait_for(thread, value, clock, until);
  uint32_t index = qzi_pub_site(&me->pub, QZ_KIND_JOIN, site);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_JOIN, index);
  qzl_show(me, index, key, site);
  int result;
  {
    __attribute__((cleanup(stop_waiting))) struct waiting its = {.key = key, .counted = false};
    qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
    result = wait_for(thread, value, clock, until);
    its.counted = result == 0 || result == ETIMEDOUT;
  }
  if (!result) qzi_pub_acquired_shared(index);
  return result;
}
QZL_EXPORT int pthread_join(pthread_t thread, void **value) {
  return join(thread, value, qzl_site_beyond(QZL_SITE(), __builtin_dwarf_cfa()), join_plain, 0, NULL);
}
QZL_EXPORT int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until) {
  return join(thread, value, qzl_site_beyond(QZL_SITE(), __builtin_dwarf_cfa()), join_timed, 0, until);
}
QZL_EXPORT int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until) {
  return join(thread, value, qzl_site_beyond(QZL_SITE(), __builtin_dwarf_cfa()), join_clock, clock, until);
}
