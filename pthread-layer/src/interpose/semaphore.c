/* Semaphores.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "pthread-layer/src/libc/fast_semaphore.h"
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
typedef int slow_wait(sem_t *, uint64_t site, clockid_t, const struct timespec *);

__attribute__((noinline)) static void over_slow(struct waiting *its) { stop_waiting(its); }
/* It is over: as stop_waiting does it, where all is as usual and the unit was had. */
__attribute__((noinline)) static void over(struct waiting *its) {
  struct qzl_thread *me = its->wait.me;
  uint32_t index = its->wait.index;
  if (__builtin_expect(its->failed || !qzl_is_usual_still(me) || !qzl_has_own(index) || me->marked ||
                         !qzi_pub_take_off(me->thread.record, its->key),
                       0)) {
    over_slow(its);
    return;
  }
  struct qz_object *object = &qzi_pub_objects[index];
  uint64_t now = qz_cycles();
  __atomic_fetch_sub(&object->queue, 1, __ATOMIC_RELAXED);
  if (__builtin_expect(__atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED) != its->wait.left, 1))
    qzl_path_takes(me, object, 0, its->key);
  qzl_usual_useful(me);
  qzl_wait_count(object, qzl_usual_ns(&its->wait, now), 0, now);
}

/* Not had at once. */
__attribute__((always_inline)) static inline int acquire_slow(sem_t *semaphore, uint64_t site, real_wait *wait_for,
                                                              clockid_t clock, const struct timespec *until) {
  struct qzl_thread *me = qzl_self;
  __attribute__((cleanup(over))) struct waiting its;
  its.counted = false;
  its.failed = true;
  uint32_t index = qzl_show_at(me, semaphore, QZ_KIND_SEMAPHORE, site);
  its.key = QZI_PUB_KEY(QZ_KIND_SEMAPHORE, index);
  qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
  int result = wait_for(semaphore, clock, until);
  its.counted = __builtin_expect(result == 0, 1) || errno == ETIMEDOUT;
  its.failed = result != 0;
  return result;
}

#define SLOW(name, wait_for)                                                                  \
  __attribute__((noinline)) static int name(sem_t *semaphore, uint64_t site, clockid_t clock, \
                                            const struct timespec *until) {                   \
    return acquire_slow(semaphore, site, wait_for, clock, until);                             \
  }
SLOW(slow_plain, sem_plain)
SLOW(slow_timed, sem_timed)
SLOW(slow_clock, sem_clock)

__attribute__((always_inline)) static inline int sem_acquire(sem_t *semaphore, uint64_t site, real_wait *wait_for,
                                                             slow_wait *slow, clockid_t clock,
                                                             const struct timespec *until) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return wait_for(semaphore, clock, until);
  if (qzl_has_no_unit(semaphore)) return slow(semaphore, site, clock, until);
  int error = errno;
  pthread_testcancel(); /* the real one is a cancellation point even if it need not wait */
  int result = qzl_real.sem_trywait(semaphore);
  errno = error;
  if (__builtin_expect(result, 0)) return slow(semaphore, site, clock, until);
  qzl_count_at(me, semaphore, QZ_KIND_SEMAPHORE, site);
  return 0;
}
QZL_EXPORT int sem_wait(sem_t *semaphore) { return sem_acquire(semaphore, QZL_SITE(), sem_plain, slow_plain, 0, NULL); }
QZL_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  if (!proper(until)) return qzl_real.sem_timedwait(semaphore, until);
  return sem_acquire(semaphore, QZL_SITE(), sem_timed, slow_timed, 0, until);
}
QZL_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
  if (!known_clock(clock) || !proper(until)) return qzl_real.sem_clockwait(semaphore, clock, until);
  return sem_acquire(semaphore, QZL_SITE(), sem_clock, slow_clock, clock, until);
}
QZL_EXPORT int sem_trywait(sem_t *semaphore) {
  struct qzl_thread *me;
  int result = qzl_real.sem_trywait(semaphore);
  if (!qzi_publishing() || !(me = qzl_here())) return result;
  int error = errno;
  uint64_t site = QZL_SITE();
  qzl_tried(me, semaphore, QZ_KIND_SEMAPHORE, site, result != 0);
  if (!result) qzl_count_at(me, semaphore, QZ_KIND_SEMAPHORE, site);
  errno = error;
  return result;
}
QZL_EXPORT int sem_post(sem_t *semaphore) {
  qzl_lets_go(semaphore, true);
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
