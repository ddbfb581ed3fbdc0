/* Read-write locks.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "pthread-layer/src/libc/readers.h"
#include "waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

typedef int real_wait(pthread_rwlock_t *, clockid_t, const struct timespec *);

/* Not had at once. What the fast path knew is found again, so that it need not be kept. */
__attribute__((noinline)) static int acquire_slow(pthread_rwlock_t *lock, uint64_t site, bool write,
                                                  real_wait *wait_for, clockid_t clock, const struct timespec *until) {
  struct qzl_wait wait;
  struct qzl_thread *me = qzl_self;
  uint32_t index = qzl_awaits(me, lock, QZ_KIND_RWLOCK, site);
  qzl_wait_begin(&wait, me, index, QZ_STATE_BLOCKED);
  int result = wait_for(lock, clock, until);
  if (result) {
    qzl_wait_end(&wait, result == ETIMEDOUT);
    qzl_wait_failed(me, index, lock, QZ_KIND_RWLOCK);
  } else {
    qzl_wait_end_later(&wait);
    if (write) acquired(me, lock, QZ_KIND_RWLOCK);
  }
  return result;
}

__attribute__((always_inline)) static inline int rwlock(pthread_rwlock_t *lock, uint64_t site, bool write,
                                                        real_wait *wait_for, clockid_t clock,
                                                        const struct timespec *until) {
  if (!qzi_publishing()) return wait_for(lock, clock, until);
  struct qzl_thread *me = qzl_self;
  if (__builtin_expect(!me, 0) || !qzl_ask_fast(me, lock, QZ_KIND_RWLOCK, site)) {
    if (!(me = qzl_here())) return wait_for(lock, clock, until);
    qzl_ask_slow(me, lock, QZ_KIND_RWLOCK, site);
  }
  int result = write ? qzl_real.pthread_rwlock_trywrlock(lock) : qzl_real.pthread_rwlock_tryrdlock(lock);
  if (__builtin_expect(result, 0)) return acquire_slow(lock, site, write, wait_for, clock, until);
  if (write) acquired(qzl_self, lock, QZ_KIND_RWLOCK);
  return 0;
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

/* Somebody waits for it, the thread itself has waited, it is not the lock that was taken last, or hold times are
 * measured. */
__attribute__((noinline)) static int release_slow(pthread_rwlock_t *lock) {
  struct qzl_thread *me = qzl_self;
  uint32_t index;
  uint64_t key = qzl_held(me, lock, QZ_KIND_RWLOCK, &index);
  qzl_released(me, index, lock); /* nothing, of one that was held for reading */
  qzl_path_lets_go(me, index);
  int result = qzl_real.pthread_rwlock_unlock(lock);
  qzl_write_waited(me);
  if (!result)
    qzl_pop(me, key);
  else
    qzl_kept(me, index, key, lock);
  return result;
}
/* Whoever waits for it has to learn who lets it go. While others read it, too, letting it go wakes nobody; then one
 * time in sixteen does, since the last ones may let go at the same time, each taking the other for the last. */
static inline bool wakes(struct qzl_thread *me, const pthread_rwlock_t *lock) {
  return qzl_last_is_wanted(me) && (!qzl_others_read(lock) || me->shared_releases++ % 16 == 0);
}

/* As for mutexes whose release cannot fail, which the C library's cannot: it leaves the stack before the real call. */
QZL_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing() || !me) return qzl_real.pthread_rwlock_unlock(lock);
  if (__builtin_expect(
        me->waited.index || qzi_pub_exact_hold & QZI_HOLD_EXACT || wakes(me, lock) || !qzl_release_fast(me, lock), 0))
    return release_slow(lock);
  return qzl_real.pthread_rwlock_unlock(lock);
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
