/* The functions that the layer stands in front of, as the next library in line has them.
 *
 * Owns:    qzl_real, a pointer for each of them.
 * Writer:  real.c, at the first call of any of them, which may come before any constructor has run. Reader: the layer.
 * Must not: be bypassed inside the layer: a call by the plain name would come back to it.
 */
#ifndef QZL_REAL_H
#define QZL_REAL_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

/* X(result, name, version or NULL for the default one, parameters, arguments). Condition variables have had two
 * layouts on x86-64; we stand in front of today's alone. */
#if defined(__x86_64__)
#define QZL_COND_VERSION "GLIBC_2.3.2"
#else
#define QZL_COND_VERSION NULL
#endif
#define QZL_REALS(X)                                                                                                 \
  X(int, pthread_create, NULL, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *v), (t, a, f, v))  \
  X(int, pthread_join, NULL, (pthread_t t, void **r), (t, r))                                                        \
  X(int, pthread_tryjoin_np, NULL, (pthread_t t, void **r), (t, r))                                                  \
  X(int, pthread_timedjoin_np, NULL, (pthread_t t, void **r, const struct timespec *w), (t, r, w))                   \
  X(int, pthread_clockjoin_np, NULL, (pthread_t t, void **r, clockid_t c, const struct timespec *w), (t, r, c, w))   \
  X(int, pthread_once, NULL, (pthread_once_t * o, void (*f)(void)), (o, f))                                          \
  X(int, pthread_setname_np, NULL, (pthread_t t, const char *n), (t, n))                                             \
  X(int, pthread_mutex_init, NULL, (pthread_mutex_t * m, const pthread_mutexattr_t *a), (m, a))                      \
  X(int, pthread_mutex_destroy, NULL, (pthread_mutex_t * m), (m))                                                    \
  X(int, pthread_mutex_lock, NULL, (pthread_mutex_t * m), (m))                                                       \
  X(int, pthread_mutex_trylock, NULL, (pthread_mutex_t * m), (m))                                                    \
  X(int, pthread_mutex_timedlock, NULL, (pthread_mutex_t * m, const struct timespec *w), (m, w))                     \
  X(int, pthread_mutex_clocklock, NULL, (pthread_mutex_t * m, clockid_t c, const struct timespec *w), (m, c, w))     \
  X(int, pthread_mutex_unlock, NULL, (pthread_mutex_t * m), (m))                                                     \
  X(int, pthread_cond_init, QZL_COND_VERSION, (pthread_cond_t * c, const pthread_condattr_t *a), (c, a))             \
  X(int, pthread_cond_destroy, QZL_COND_VERSION, (pthread_cond_t * c), (c))                                          \
  X(int, pthread_cond_wait, QZL_COND_VERSION, (pthread_cond_t * c, pthread_mutex_t * m), (c, m))                     \
  X(int, pthread_cond_timedwait, QZL_COND_VERSION,                                                                   \
    (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *w), (c, m, w))                                  \
  X(int, pthread_cond_clockwait, NULL,                                                                               \
    (pthread_cond_t * c, pthread_mutex_t * m, clockid_t k, const struct timespec *w), (c, m, k, w))                  \
  X(int, pthread_cond_signal, QZL_COND_VERSION, (pthread_cond_t * c), (c))                                           \
  X(int, pthread_cond_broadcast, QZL_COND_VERSION, (pthread_cond_t * c), (c))                                        \
  X(int, pthread_rwlock_init, NULL, (pthread_rwlock_t * l, const pthread_rwlockattr_t *a), (l, a))                   \
  X(int, pthread_rwlock_destroy, NULL, (pthread_rwlock_t * l), (l))                                                  \
  X(int, pthread_rwlock_rdlock, NULL, (pthread_rwlock_t * l), (l))                                                   \
  X(int, pthread_rwlock_tryrdlock, NULL, (pthread_rwlock_t * l), (l))                                                \
  X(int, pthread_rwlock_timedrdlock, NULL, (pthread_rwlock_t * l, const struct timespec *w), (l, w))                 \
  X(int, pthread_rwlock_clockrdlock, NULL, (pthread_rwlock_t * l, clockid_t c, const struct timespec *w), (l, c, w)) \
  X(int, pthread_rwlock_wrlock, NULL, (pthread_rwlock_t * l), (l))                                                   \
  X(int, pthread_rwlock_trywrlock, NULL, (pthread_rwlock_t * l), (l))                                                \
  X(int, pthread_rwlock_timedwrlock, NULL, (pthread_rwlock_t * l, const struct timespec *w), (l, w))                 \
  X(int, pthread_rwlock_clockwrlock, NULL, (pthread_rwlock_t * l, clockid_t c, const struct timespec *w), (l, c, w)) \
  X(int, pthread_rwlock_unlock, NULL, (pthread_rwlock_t * l), (l))                                                   \
  X(int, pthread_spin_init, NULL, (pthread_spinlock_t * l, int s), (l, s))                                           \
  X(int, pthread_spin_destroy, NULL, (pthread_spinlock_t * l), (l))                                                  \
  X(int, pthread_spin_lock, NULL, (pthread_spinlock_t * l), (l))                                                     \
  X(int, pthread_spin_trylock, NULL, (pthread_spinlock_t * l), (l))                                                  \
  X(int, pthread_spin_unlock, NULL, (pthread_spinlock_t * l), (l))                                                   \
  X(int, pthread_barrier_init, NULL, (pthread_barrier_t * b, const pthread_barrierattr_t *a, unsigned n), (b, a, n)) \
  X(int, pthread_barrier_destroy, NULL, (pthread_barrier_t * b), (b))                                                \
  X(int, pthread_barrier_wait, NULL, (pthread_barrier_t * b), (b))                                                   \
  X(int, sched_yield, NULL, (void), ())                                                                              \
  X(int, sem_init, NULL, (sem_t * s, int p, unsigned v), (s, p, v))                                                  \
  X(int, sem_destroy, NULL, (sem_t * s), (s))                                                                        \
  X(int, sem_post, NULL, (sem_t * s), (s))                                                                           \
  X(int, sem_wait, NULL, (sem_t * s), (s))                                                                           \
  X(int, sem_trywait, NULL, (sem_t * s), (s))                                                                        \
  X(int, sem_timedwait, NULL, (sem_t * s, const struct timespec *w), (s, w))                                         \
  X(int, sem_clockwait, NULL, (sem_t * s, clockid_t c, const struct timespec *w), (s, c, w))

struct qzl_real {
#define X(result, name, version, parameters, arguments) result(*name) parameters;
  QZL_REALS(X)
#undef X
};
extern struct qzl_real qzl_real __attribute__((visibility("hidden")));
/* The next definition of any function; NULL: none. */
void *qzl_next(const char *name, const char *version) __attribute__((visibility("hidden")));

#endif
