/* pthread_once and call_once: the one that runs the routine, and those that wait for it to end.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: cost more than a load where the routine has been run.
 *
 * Who comes first is known by the routine's being called. Who finds it running waits (its record is that of the object;
 * the object is not on the path of the thread that runs the routine, because that is no lock).
 */
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

#define RUNNING 1 /* the C library's: bit 0 while the routine runs, bit 1 when it has been run */
#define DONE    2

struct waiting {
  struct qzl_wait wait;
  uint64_t key;
};
/* Also when the thread is cancelled in its wait. (Where the routine fails, by an exception, a waiter runs it again, and
 * is shown as waiting then.) */
static void stop_waiting(struct waiting *its) {
  qzl_wait_end(&its->wait, 1);
  qzi_pub_acquired_shared(its->wait.index);
  qzl_hide(its->wait.me, its->wait.index, its->key);
}

static int once(pthread_once_t *control, void (*routine)(void), uint64_t site) {
  int state = __atomic_load_n((int *)control, __ATOMIC_ACQUIRE);
  struct qzl_thread *me;
  if (state & DONE || !(state & RUNNING) || !qzi_publishing() || !(me = qzl_here()))
    return qzl_real.pthread_once(control, routine);
  uint32_t index = qzl_own(control, QZ_KIND_ONCE, site, 0);
  uint64_t key = QZI_PUB_KEY(QZ_KIND_ONCE, index);
  qzl_show(me, index, key, site);
  __attribute__((cleanup(stop_waiting))) struct waiting its = {.key = key};
  qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
  return qzl_real.pthread_once(control, routine);
}
QZL_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void)) {
  return once(control, routine, QZL_SITE());
}
QZL_EXPORT void call_once(once_flag *flag, void (*routine)(void)) {
  once((pthread_once_t *)(void *)flag, routine, QZL_SITE());
}
