/* Joins: one object for each place that joins.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real function did.
 */
#include "waiting.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

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
  uint64_t begin;
  {
    __attribute__((cleanup(stop_waiting))) struct waiting its = {.key = key, .counted = false};
    qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
    begin = its.wait.begin;
    result = wait_for(thread, value, clock, until);
    its.counted = result == 0 || result == ETIMEDOUT;
  }
  if (!result) qzl_path_joined(me, thread, begin, key, site);
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
