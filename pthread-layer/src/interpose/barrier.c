/* Barriers.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

QZL_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return qzl_real.pthread_barrier_wait(barrier);
  uint64_t site = QZL_SITE();
  uint32_t index = qzl_own(barrier, QZ_KIND_BARRIER, site, 0);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_BARRIER, index);
  qzl_show(me, index, key, site);
  struct qzl_wait wait;
  unsigned slot = qzl_path_arrives(me, index);
  qzl_wait_begin(&wait, me, index, QZ_STATE_BLOCKED);
  wait.slot = slot;
  int result = qzl_real.pthread_barrier_wait(barrier);
  /* The last one to come is the serial one, and need not wait. The barrier may be gone by now, its record is not. */
  qzl_wait_end(&wait, result == 0);
  qzl_path_passed(me, index, slot);
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
