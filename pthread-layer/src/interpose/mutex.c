/* Mutexes, of POSIX and of C11. A free one is taken by the real trylock, which does what the real lock does with a free
 * mutex of any type, or as that takes one of the usual kind (fast_mutex.h); everything else is left to the real
 * functions.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return anything that the real function did not return.
 */
#include <errno.h>
#include <stdbool.h>
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/path.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"
#include "pthread-layer/src/state/yield_places.h"
#include "pthread-layer/src/libc/fast_mutex.h"

enum how { LOCK, TIMED, CLOCKED };

static int wait_for(pthread_mutex_t *mutex, enum how how, clockid_t clock, const struct timespec *until) {
  switch (how) {
  case TIMED: return qzl_real.pthread_mutex_timedlock(mutex, until);
  case CLOCKED: return qzl_real.pthread_mutex_clocklock(mutex, clock, until);
  default: return qzl_real.pthread_mutex_lock(mutex);
  }
}

static inline bool taken(int result) { return result == 0 || result == EOWNERDEAD; }

/* Of a recursive mutex, after it was taken or before it is let go: the thread has it at an outer level as well. */
static inline bool is_inner(const pthread_mutex_t *mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 1;
}

/* Hold times are wanted, perhaps. */
__attribute__((noinline)) static int time_hold(pthread_mutex_t *mutex, int result) {
  uint32_t index;
  if (!qzi_pub_exact_hold || is_inner(mutex)) return result;
  qzl_asked(qzl_self, mutex, QZ_KIND_MUTEX, &index);
  qzl_acquired(qzl_self, index, mutex);
  return result;
}

/* Not had at once. What the fast path knew is found again, so that it need not be kept. */
__attribute__((noinline)) static int acquire_slow(pthread_mutex_t *mutex, uint64_t site, enum how how, clockid_t clock,
                                                  const struct timespec *until) {
  struct qzl_wait wait;
  struct qzl_thread *me = qzl_self;
  uint32_t index = qzl_awaits(me, mutex, QZ_KIND_MUTEX, site);
  qzl_wait_begin(&wait, me, index, QZ_STATE_BLOCKED);
  int result = wait_for(mutex, how, clock, until);
  if (__builtin_expect(taken(result), 1)) {
    qzl_wait_end_later(&wait);
    qzl_write_at_release(me, mutex);
    if (__builtin_expect(qzi_pub_exact_hold, 0)) time_hold(mutex, result);
  } else {
    qzl_wait_end(&wait, result == ETIMEDOUT);
    qzl_wait_failed(me, index, mutex, QZ_KIND_MUTEX);
  }
  return result;
}

/* Trying has a side effect here: the C library's trylock keeps a mutex that is not recoverable. So one that looks free
 * is left to the real lock, and a wait that begins just then is not seen. */
#define ROBUST 16 /* in __kind */
__attribute__((noinline)) static int acquire_robust(pthread_mutex_t *mutex, uint64_t site, enum how how,
                                                    clockid_t clock, const struct timespec *until) {
  if (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED)) return acquire_slow(mutex, site, how, clock, until);
  uint32_t index;
  qzl_asked(qzl_self, mutex, QZ_KIND_MUTEX, &index);
  int result = wait_for(mutex, how, clock, until);
  if (taken(result))
    time_hold(mutex, result);
  else
    qzl_wait_failed(qzl_self, index, mutex, QZ_KIND_MUTEX);
  return result;
}

/* In all cases. */
__attribute__((noinline)) static int acquire_any(pthread_mutex_t *mutex, uint64_t site, enum how how, clockid_t clock,
                                                 const struct timespec *until) {
  struct qzl_thread *me = qzl_here();
  if (!me) return wait_for(mutex, how, clock, until);
  qzl_ask(me, mutex, QZ_KIND_MUTEX, site);
  int kind = mutex->__data.__kind;
  if (__builtin_expect(kind == QZL_KIND_USUAL && qzl_takes, 1)) {
    if (__builtin_expect(!qzl_take(mutex, me->thread.os_tid), 0)) return acquire_slow(mutex, site, how, clock, until);
    return __builtin_expect(qzi_pub_exact_hold, 0) ? time_hold(mutex, 0) : 0;
  }
  if (__builtin_expect(kind & ROBUST, 0)) return acquire_robust(mutex, site, how, clock, until);
  int result = qzl_real.pthread_mutex_trylock(mutex);
  if (__builtin_expect(!taken(result), 0)) return acquire_slow(mutex, site, how, clock, until);
  return __builtin_expect(qzi_pub_exact_hold, 0) ? time_hold(mutex, result) : result;
}
static inline bool is_usual(const pthread_mutex_t *mutex) {
  return __builtin_expect(mutex->__data.__kind == __atomic_load_n(&qzl_taken_kind, __ATOMIC_RELAXED), 1);
}
/* The mutexes of nearly all programs at places that know them. Everything else is called in place of a return, so that
 * no register has to be saved. In each function by itself, for which much is constant. */
__attribute__((always_inline)) static inline int acquire(pthread_mutex_t *mutex, uint64_t site, enum how how,
                                                         clockid_t clock, const struct timespec *until) {
  if (!qzi_publishing()) return wait_for(mutex, how, clock, until);
  struct qzl_thread *me = qzl_self;
  if (__builtin_expect(!me, 0) || !is_usual(mutex) || !qzl_ask_fast(me, mutex, QZ_KIND_MUTEX, site))
    return acquire_any(mutex, site, how, clock, until);
  if (__builtin_expect(!qzl_take(mutex, me->thread.os_tid), 0)) return acquire_slow(mutex, site, how, clock, until);
  return 0;
}

QZL_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex) { return acquire(mutex, QZL_SITE(), LOCK, 0, NULL); }
QZL_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
  return acquire(mutex, QZL_SITE(), TIMED, 0, until);
}
QZL_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) return qzl_real.pthread_mutex_clocklock(mutex, clock, until);
  return acquire(mutex, QZL_SITE(), CLOCKED, clock, until);
}

__attribute__((noinline)) static int try_any(pthread_mutex_t *mutex, uint64_t site) {
  struct qzl_thread *me;
  int result = qzl_real.pthread_mutex_trylock(mutex);
  if (!qzi_publishing() || !(me = qzl_here())) return result;
  qzl_tried(me, mutex, QZ_KIND_MUTEX, site, !taken(result));
  if (!taken(result)) return result;
  qzl_ask(me, mutex, QZ_KIND_MUTEX, site);
  return __builtin_expect(qzi_pub_exact_hold, 0) ? time_hold(mutex, result) : result;
}
__attribute__((noinline)) static int ask_slow(struct qzl_thread *me, pthread_mutex_t *mutex, uint64_t site) {
  qzl_ask_slow(me, mutex, QZ_KIND_MUTEX, site);
  return 0;
}
static inline int try(pthread_mutex_t *mutex, uint64_t site) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing()) return qzl_real.pthread_mutex_trylock(mutex);
  /* A thread that is not as usual may have no record, and one that tried another lock in vain is asked about that. */
  if (__builtin_expect(!me || !qzl_is_usual(me) || me->thread.record->tries, 0) || !is_usual(mutex) ||
      __builtin_expect(!qzl_take(mutex, me->thread.os_tid), 0))
    return try_any(mutex, site);
  return qzl_ask_fast(me, mutex, QZ_KIND_MUTEX, site) ? 0 : ask_slow(me, mutex, site);
}
QZL_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex) { return try(mutex, QZL_SITE()); }

/* Letting it go can't fail. Then it leaves the stack before the real call, in which the kernel wakes who waits for it,
 * and often runs that at once: the mutex is not held then. */
static inline bool sure(const pthread_mutex_t *mutex) {
  unsigned type = (unsigned)mutex->__data.__kind & 0x73; /* 0x70: robust, with priority inheritance or ceilings */
  return __builtin_expect(type == PTHREAD_MUTEX_NORMAL, 1) || type == PTHREAD_MUTEX_ADAPTIVE_NP;
}

/* Somebody may be asleep for it: the C library's word says so. */
static inline bool wanted(const pthread_mutex_t *mutex) {
  return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) > 1;
}

/* Somebody waits for it (or may try it and yield, which its word does not show), the thread itself waited, it is not
 * the lock that was taken last, letting it go may fail, or its hold time is measured. */
__attribute__((noinline)) static int release_slow(pthread_mutex_t *mutex) {
  struct qzl_thread *me = qzl_self;
  uint32_t index;
  if (__builtin_expect(sure(mutex) && qzl_release_usual(me, mutex, &index), 1)) {
    if (wanted(mutex) || qzl_some_yield()) qzl_path_lets_go(me, index);
    int error = qzl_real.pthread_mutex_unlock(mutex);
    qzl_write_waited(me);
    return error;
  }
  uint64_t key = qzl_held(me, mutex, QZ_KIND_MUTEX, &index);
  if (__builtin_expect(qzi_pub_exact_hold, 0) && !is_inner(mutex)) qzl_released(me, index, mutex);
  if (wanted(mutex) || qzl_some_yield()) qzl_path_lets_go(me, index);
  if (sure(mutex)) {
    qzl_pop(me, key);
    int error = qzl_real.pthread_mutex_unlock(mutex);
    qzl_write_waited(me);
    return error;
  }
  int result = qzl_real.pthread_mutex_unlock(mutex);
  qzl_write_waited(me);
  if (__builtin_expect(result == 0, 1))
    qzl_pop(me, key);
  else
    qzl_kept(me, index, key, mutex);
  return result;
}
/* In all cases. */
__attribute__((noinline)) static int release_any(pthread_mutex_t *mutex) {
  if (wanted(mutex) || !sure(mutex) || qzl_is_attended() || !qzl_release_fast(qzl_self, mutex))
    return release_slow(mutex);
  return qzl_real.pthread_mutex_unlock(mutex);
}
__attribute__((always_inline)) static inline int release(pthread_mutex_t *mutex) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing() || !me) return qzl_real.pthread_mutex_unlock(mutex);
  if (!is_usual(mutex) || __builtin_expect(wanted(mutex) || qzl_is_attended() || !qzl_release_fast(me, mutex), 0))
    return release_any(mutex);
  return qzl_give(mutex) ? 0 : qzl_real.pthread_mutex_unlock(mutex);
}
QZL_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex) { return release(mutex); }

QZL_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  qzl_initialized(mutex, QZL_SITE());
  return qzl_real.pthread_mutex_init(mutex, attributes);
}
QZL_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex) {
  int result = qzl_real.pthread_mutex_destroy(mutex);
  if (!result) qzl_destroyed(mutex);
  return result;
}

/* For calibrate.c: these, whoever stands before them. */
extern __typeof(pthread_mutex_lock) qzl_mutex_lock
  __attribute__((alias("pthread_mutex_lock"), visibility("hidden"), nothrow));
extern __typeof(pthread_mutex_unlock) qzl_mutex_unlock
  __attribute__((alias("pthread_mutex_unlock"), visibility("hidden"), nothrow));

/* ---- C11: the C library's mtx_t is its pthread_mutex_t ---- */

static int c11(int error) {
  return error == 0           ? thrd_success
         : error == EBUSY     ? thrd_busy
         : error == ETIMEDOUT ? thrd_timedout
         : error == ENOMEM    ? thrd_nomem
                              : thrd_error;
}
QZL_EXPORT int mtx_lock(mtx_t *mutex) {
  return c11(acquire((pthread_mutex_t *)(void *)mutex, QZL_SITE(), LOCK, 0, NULL));
}
QZL_EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until) {
  return c11(acquire((pthread_mutex_t *)(void *)mutex, QZL_SITE(), TIMED, 0, until));
}
QZL_EXPORT int mtx_trylock(mtx_t *mutex) { return c11(try((pthread_mutex_t *)(void *)mutex, QZL_SITE())); }
QZL_EXPORT int mtx_unlock(mtx_t *mutex) { return c11(release((pthread_mutex_t *)(void *)mutex)); }
