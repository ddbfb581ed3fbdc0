/* Semaphores.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

static int sem_plain(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_wait(semaphore);
}
static int sem_timed(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_timedwait(semaphore, until);
}
static int sem_clock(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  return qzl_real.sem_clockwait(semaphore, clock, until);
}

typedef int real_wait(sem_t *, clockid_t, const struct timespec *);

/* Not had at once. */
__attribute__((noinline)) static int acquire_slow(sem_t *semaphore, uint64_t site, real_wait *wait_for, clockid_t clock,
                                                  const struct timespec *until) {
  struct qzl_thread *me = qzl_self;
  uint32_t index = qzl_own(semaphore, QZ_KIND_SEMAPHORE, site, 0);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index);
  if (index) qzl_count(me, site, key);
  if (index) qzi_pub_push(&me->pub, &me->thread, key);
  __attribute__((cleanup(stop_waiting))) struct waiting its = {.key = key, .counted = false, .failed = true};
  qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
  int result = wait_for(semaphore, clock, until);
  its.counted = result == 0 || errno == ETIMEDOUT;
  its.failed = result != 0;
  return result;
}

__attribute__((always_inline)) static inline int sem_acquire(sem_t *semaphore, uint64_t site, real_wait *wait_for,
                                                             clockid_t clock, const struct timespec *until) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return wait_for(semaphore, clock, until);
  int error = errno;
  pthread_testcancel(); /* the real one is a cancellation point even if it need not wait */
  int result = qzl_real.sem_trywait(semaphore);
  errno = error;
  if (__builtin_expect(result, 0)) return acquire_slow(semaphore, site, wait_for, clock, until);
  uint32_t index = qzl_index(me, semaphore, QZ_KIND_SEMAPHORE, site);
  if (index) qzl_count(me, site, QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index));
  return 0;
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
QZL_EXPORT int sem_post(sem_t *semaphore) {
  qzl_lets_go(semaphore);
  return qzl_real.sem_post(semaphore);
}
QZL_EXPORT int sem_init(sem_t *semaphore, int shared, unsigned value) {
  qzl_initialized(semaphore, QZL_SITE());
  return qzl_real.sem_init(semaphore, shared, value);
}
QZL_EXPORT int sem_destroy(sem_t *semaphore) {
  qzl_destroyed(semaphore);
  return qzl_real.sem_destroy(semaphore);
}
