/* Loops that wait without a lock: marked by the program (QZ_SPIN_BEGIN, QZ_SPIN_END), or of calls to sched_yield.
 *
 * Owns:    qzl_thread.marked, .yielded. Writer: the calling thread. Reader: the sampler.
 * Must not: take a thread that yields between pieces of work for one that waits.
 */
#include <errno.h>
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

void (*qzl_next_spin_begin)(const void *), (*qzl_next_spin_end)(const void *);

QZL_EXPORT void qz_spin_begin(const void *object);
QZL_EXPORT void qz_spin_begin(const void *object) {
  if (qzl_next_spin_begin) {
    qzl_next_spin_begin(object);
    return;
  }
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here()) || me->marked) return;
  uint64_t site = QZL_SITE();
  uint32_t index = qzi_pub_loop(&me->pub, site, object);
  if (!index) return;
  me->marked = index;
  me->marked_since = qzi_pub_ticks();
  qzl_show(me, index, QZI_PUB_KEY(QZ_KIND_LOOP, index), site);
  qzi_pub_thread_state(&me->pub, &me->thread, QZ_STATE_SPINNING, index);
}

QZL_EXPORT void qz_spin_end(const void *object);
QZL_EXPORT void qz_spin_end(const void *object) {
  if (qzl_next_spin_end) {
    qzl_next_spin_end(object);
    return;
  }
  struct qzl_thread *me = qzl_self;
  if (!me || !me->marked) return;
  struct qzl_wait wait = {.me = me, .index = me->marked, .begin = me->marked_since};
  me->marked = 0;
  qzl_spin_end(&wait);
  qzi_pub_acquired_shared(wait.index);
  qzl_hide(me, wait.index, QZI_PUB_KEY(QZ_KIND_LOOP, wait.index));
}

/* ---- sched_yield ---- */

/* Less than this between two yields, in ticks of the processor's clock (about a microsecond): there was no room for
 * more than a look at what is waited for. */
#if defined(__x86_64__)
#define SOON 2500
static uint64_t ticks(void) { return __builtin_ia32_rdtsc(); }
#else
#define SOON 50
static uint64_t ticks(void) {
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}
#endif

/* One more unsuccessful poll: of the lock that the thread tries, else of what this place waits for. */
static void yields(struct qzl_thread *me, uint64_t site) {
  struct qz_thread *record = me->thread.record;
  if (!record) return;
  if (ticks() - me->yielded > SOON) { /* work between */
    if (record->tries) qzi_pub_store(&record->tries, 0);
    return;
  }
  uint64_t before = record->tries;
  if (!before) before = (uint64_t)(qzi_pub_loop(&me->pub, site, NULL) & ~QZI_PUB_SHARED) << 32;
  if (before) qzi_pub_store(&record->tries, before + 1);
}

QZL_EXPORT int sched_yield(void) {
  struct qzl_thread *me;
  if (!qzi_publishing() || !(me = qzl_here())) return qzl_real.sched_yield();
  yields(me, QZL_SITE());
  int result = qzl_real.sched_yield();
  me->yielded = ticks();
  return result;
}
