/* Condition variables, of POSIX and of C11. Their time waiting includes what it takes to get the mutex back, which
 * happens inside the real call.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: signal or wait by itself; lose a cancellation, or the state of a thread that is cancelled here.
 */
#include <errno.h>
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/path.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"

struct waiting {
  struct qzl_wait wait;
  uint64_t key;
  uint64_t mutex_key; /* under which the mutex was on the stack, 0: it was not */
  uint32_t mutex;     /* index of its own record, 0: none */
  const void *mutex_address;
};

/* The mutex is let go, the condition asked for. */
__attribute__((noinline)) static uint32_t leave_slow(struct waiting *its, struct qzl_thread *me,
                                                     pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t site) {
  uint32_t index = qzl_own(condition, QZ_KIND_CONDITION, site, 0);
  its->key = QZI_PUB_KEY(QZ_KIND_CONDITION, index);
  its->mutex_address = mutex;
  its->mutex_key = qzl_held(me, mutex, QZ_KIND_MUTEX, &its->mutex);
  qzl_released(me, its->mutex, mutex);
  if (mutex->__data.__lock > 1) qzl_path_lets_go(me, its->mutex); /* somebody waits for it */
  qzl_pop(me, its->mutex_key);
  qzl_show(me, index, its->key, site);
  qzl_know(me, index, its->key, site, condition);
  return index;
}
/* The same where all is as usual, the mutex is what the thread took last, and the condition is known at that place: it
 * takes the mutex's entry on the stack. */
__attribute__((always_inline)) static inline void
leave(struct waiting *its, struct qzl_thread *me, pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t site) {
  const struct qzl_cached_lock *known = qzl_known_at(me, condition, QZ_KIND_CONDITION, site);
  const struct qzl_held_lock *held = qzl_last_held(me);
  if (__builtin_expect(known && held && qzl_is_usual(me) && qzl_is_held(held, mutex) &&
                         qzi_pub_replace(me->thread.record, held->key, known->key),
                       1)) {
    its->key = known->key;
    its->mutex_address = mutex;
    its->mutex_key = held->key;
    its->mutex = qzl_held_index(held);
    me->held_count--;
    qzl_count_known(me, known);
    if (__builtin_expect(mutex->__data.__lock > 1, 0)) qzl_path_lets_go(me, its->mutex); /* somebody waits for it */
    qzl_wait_begin_usual(&its->wait, me, QZ_KEY_INDEX(its->key), its->mutex, QZ_STATE_BLOCKED);
  } else {
    uint32_t index = leave_slow(its, me, condition, mutex, site);
    qzl_wait_begin(&its->wait, me, index, QZ_STATE_BLOCKED);
    its->wait.then = its->mutex;
  }
}

/* Also runs when the thread is cancelled in its wait: it has the mutex again. */
__attribute__((noinline)) static void come_back_slow(struct waiting *its) {
  struct qzl_thread *me = its->wait.me;
  qzl_wait_end_later(&its->wait);
  if (its->wait.index && qzi_publishing())
    qzi_pub_add(&QZI_PUB_OBJECT(its->wait.index)->acquisitions, 1, its->wait.index);
  qzl_hide(me, its->wait.index, its->key);
  qzl_hold_again(me, its->mutex, its->mutex_key, its->mutex_address);
  qzl_write_at_release(me, its->mutex_address);
  qzl_acquired(me, its->mutex, its->mutex_address);
}
/* Who has let it go: whoever signalled, or the one who has let the mutex go since. */
static inline void takes_over(struct waiting *its, struct qzl_thread *me, const struct qz_object *object) {
  const struct qz_object *mutex = &qzi_pub_objects[its->mutex];
  uint64_t begin = its->wait.begin, since = __atomic_load_n(&object->chain[0].ticks, __ATOMIC_RELAXED),
           then_since = its->mutex ? __atomic_load_n(&mutex->chain[0].ticks, __ATOMIC_RELAXED) : 0;
  if (__builtin_expect(then_since >= begin && then_since > since, 0))
    qzl_path_takes(me, mutex, 0, its->mutex_key);
  else if (since >= begin)
    qzl_path_takes(me, object, 0, its->key);
}
/* The same where all is as usual. */
__attribute__((noinline)) static void come_back(struct waiting *its) {
  struct qzl_thread *me = its->wait.me;
  uint32_t index = its->wait.index;
  if (__builtin_expect(!qzl_is_usual_still(me) || !qzl_has_own(index) || me->marked || !its->mutex_key ||
                         me->held_count >= QZL_HELD_OWN ||
                         !qzi_pub_replace(me->thread.record, its->key, its->mutex_key),
                       0)) {
    come_back_slow(its);
    return;
  }
  struct qz_object *object = &qzi_pub_objects[index];
  uint64_t now = qz_cycles(), address = (uint64_t)(uintptr_t)its->mutex_address;
  __atomic_fetch_sub(&object->queue, 1, __ATOMIC_RELAXED);
  qzl_wait_later(me, index, qzl_usual_ns(&its->wait, now), 0);
  takes_over(its, me, object);
  qzi_pub_store(&object->acquisitions, object->acquisitions + 1);
  struct qzl_held_lock *held = &me->held[me->held_count++];
  held->address = address | 2 | !its->mutex; /* what it waited is written down when it lets the mutex go */
  __atomic_signal_fence(__ATOMIC_ACQ_REL);
  held->key = its->mutex_key;
  qzl_usual_useful(me);
  qzl_look_if_due(now);
}

#define WAIT(real)                                          \
  struct qzl_thread *me;                                    \
  if (!qzi_publishing() || !(me = qzl_here())) return real; \
  __attribute__((cleanup(come_back))) struct waiting its;   \
  leave(&its, me, condition, mutex, QZL_SITE());            \
  return real

#if defined(__x86_64__)
#define VERSIONED(name) __asm__(".symver layer_" #name ", " #name "@@GLIBC_2.3.2")
#define COND(name)      layer_##name
VERSIONED(pthread_cond_init);
VERSIONED(pthread_cond_destroy);
VERSIONED(pthread_cond_wait);
VERSIONED(pthread_cond_timedwait);
VERSIONED(pthread_cond_signal);
VERSIONED(pthread_cond_broadcast);
#else
#define COND(name) name
#endif

QZL_EXPORT int COND(pthread_cond_wait)(pthread_cond_t *condition, pthread_mutex_t *mutex);
QZL_EXPORT int COND(pthread_cond_wait)(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  WAIT(qzl_real.pthread_cond_wait(condition, mutex));
}
QZL_EXPORT int COND(pthread_cond_timedwait)(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                            const struct timespec *until);
QZL_EXPORT int COND(pthread_cond_timedwait)(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                            const struct timespec *until) {
  WAIT(qzl_real.pthread_cond_timedwait(condition, mutex, until));
}
QZL_EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                      const struct timespec *until) {
  WAIT(qzl_real.pthread_cond_clockwait(condition, mutex, clock, until));
}
QZL_EXPORT int COND(pthread_cond_signal)(pthread_cond_t *condition);
QZL_EXPORT int COND(pthread_cond_signal)(pthread_cond_t *condition) {
  qzl_lets_go(condition, false);
  return qzl_real.pthread_cond_signal(condition);
}
QZL_EXPORT int COND(pthread_cond_broadcast)(pthread_cond_t *condition);
QZL_EXPORT int COND(pthread_cond_broadcast)(pthread_cond_t *condition) {
  qzl_lets_go(condition, false);
  return qzl_real.pthread_cond_broadcast(condition);
}
QZL_EXPORT int COND(pthread_cond_init)(pthread_cond_t *condition, const pthread_condattr_t *attributes);
QZL_EXPORT int COND(pthread_cond_init)(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
  qzl_initialized(condition, QZL_SITE());
  return qzl_real.pthread_cond_init(condition, attributes);
}
QZL_EXPORT int COND(pthread_cond_destroy)(pthread_cond_t *condition);
QZL_EXPORT int COND(pthread_cond_destroy)(pthread_cond_t *condition) {
  int result = qzl_real.pthread_cond_destroy(condition);
  if (!result) qzl_destroyed(condition);
  return result;
}

/* ---- C11: the C library's cnd_t is its pthread_cond_t ---- */

static int wait_c11(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until, uint64_t site) {
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : NULL;
  int error;
  if (!me) {
    error =
      until ? qzl_real.pthread_cond_timedwait(condition, mutex, until) : qzl_real.pthread_cond_wait(condition, mutex);
  } else {
    __attribute__((cleanup(come_back))) struct waiting its;
    leave(&its, me, condition, mutex, site);
    error =
      until ? qzl_real.pthread_cond_timedwait(condition, mutex, until) : qzl_real.pthread_cond_wait(condition, mutex);
  }
  return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == ENOMEM ? thrd_nomem : thrd_error;
}
QZL_EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return wait_c11((pthread_cond_t *)(void *)condition, (pthread_mutex_t *)(void *)mutex, NULL, QZL_SITE());
}
QZL_EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until) {
  return wait_c11((pthread_cond_t *)(void *)condition, (pthread_mutex_t *)(void *)mutex, until, QZL_SITE());
}
QZL_EXPORT int cnd_signal(cnd_t *condition) {
  qzl_lets_go(condition, false);
  return qzl_real.pthread_cond_signal((pthread_cond_t *)(void *)condition) ? thrd_error : thrd_success;
}
QZL_EXPORT int cnd_broadcast(cnd_t *condition) {
  qzl_lets_go(condition, false);
  return qzl_real.pthread_cond_broadcast((pthread_cond_t *)(void *)condition) ? thrd_error : thrd_success;
}
