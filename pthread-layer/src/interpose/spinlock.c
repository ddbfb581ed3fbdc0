/* Spin locks.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

QZL_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return qzl_real.pthread_spin_lock(lock);
  uint64_t site = QZL_SITE();
  qzl_ask(me, (const void *)lock, QZ_KIND_SPINLOCK, site);
  int result = qzl_real.pthread_spin_trylock(lock);
  if (result) {
    struct qzl_wait wait;
    uint32_t index = qzl_awaits(me, (const void *)lock, QZ_KIND_SPINLOCK, site);
    qzl_wait_begin(&wait, me, index, QZ_STATE_SPINNING);
    result = qzl_real.pthread_spin_lock(lock);
    qzl_spin_end_later(&wait);
    qzl_write_at_release(me, (const void *)lock);
    if (result) qzl_wait_failed(me, index, (const void *)lock, QZ_KIND_SPINLOCK);
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
  if (__builtin_expect(qzi_pub_exact_hold & QZI_HOLD_EXACT || !qzl_release_fast(me, (const void *)lock), 0)) {
    uint32_t index;
    uint64_t key = qzl_held(me, (const void *)lock, QZ_KIND_SPINLOCK, &index);
    qzl_released(me, index, (const void *)lock);
    qzl_pop(me, key);
    int result = qzl_real.pthread_spin_unlock(lock);
    qzl_write_waited(me);
    return result;
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
