/* Synchronization objects.
 *
 * Functions return 0 or an error number, and leave errno alone. For threads of the package, any of them at any time; not for signal
 * handlers. Objects must not be moved or copied. A name is copied, and shown in reports; NULL: the place that made the object.
 *   ..._init        EINVAL: a value out of range
 *   ..._destroy     EBUSY: held, or waited for; it stays usable. To use an object after that aborts the program with one line
 *   ..._try...      never wait
 *   ..._timed...    until an absolute time of CLOCK_REALTIME, as in POSIX. ETIMEDOUT; EINVAL: no such time
 *   ..._clock...    the same for CLOCK_REALTIME or CLOCK_MONOTONIC
 * docs/sync.md says how they wait, and in which order threads get their turn.
 */
#ifndef QUARTZ_SYNC_H
#define QUARTZ_SYNC_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <quartz/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a thread waits for a mutex or barrier. */
typedef enum qz_policy { QZ_ADAPTIVE = 0, QZ_BLOCK = 1, QZ_SPIN = 2 } qz_policy;

typedef struct qz_mutex { uint64_t opaque[7]; } qz_mutex;
#define QZ_MUTEX_INIT { { 0 } }
int qz_mutex_init(qz_mutex *mutex, const char *name, qz_policy policy);
int qz_mutex_destroy(qz_mutex *mutex);
int qz_mutex_lock(qz_mutex *mutex);     /* EDEADLK: the caller holds it */
int qz_mutex_trylock(qz_mutex *mutex);  /* EBUSY */
int qz_mutex_timedlock(qz_mutex *mutex, const struct timespec *realtime); /* as lock, and ETIMEDOUT, EINVAL */
int qz_mutex_clocklock(qz_mutex *mutex, int clock, const struct timespec *time);
int qz_mutex_unlock(qz_mutex *mutex);   /* EPERM: the caller does not hold it */

/* Turns in order of arrival, so no second read lock while one is held: a writer may have queued between the two. */
typedef struct qz_rwlock { uint64_t opaque[8]; } qz_rwlock;
#define QZ_RWLOCK_INIT { { 0 } }
int qz_rwlock_init(qz_rwlock *lock, const char *name);
int qz_rwlock_destroy(qz_rwlock *lock);
int qz_rwlock_rdlock(qz_rwlock *lock);     /* EDEADLK: the caller has it for writing */
int qz_rwlock_tryrdlock(qz_rwlock *lock);  /* EBUSY */
int qz_rwlock_timedrdlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockrdlock(qz_rwlock *lock, int clock, const struct timespec *time);
int qz_rwlock_wrlock(qz_rwlock *lock);     /* EDEADLK: the caller has it for writing */
int qz_rwlock_trywrlock(qz_rwlock *lock);  /* EBUSY */
int qz_rwlock_timedwrlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockwrlock(qz_rwlock *lock, int clock, const struct timespec *time);
int qz_rwlock_unlock(qz_rwlock *lock);     /* EPERM: nobody has it for reading, and the caller not for writing */

/* As in POSIX: the mutex is released while the thread waits, and the predicate is to be tested in a loop. */
typedef struct qz_cond { uint64_t opaque[6]; } qz_cond;
#define QZ_COND_INIT { { 0 } }
int qz_cond_init(qz_cond *cond, const char *name);
int qz_cond_destroy(qz_cond *cond);
int qz_cond_wait(qz_cond *cond, qz_mutex *mutex); /* EPERM: the caller does not hold the mutex */
int qz_cond_timedwait(qz_cond *cond, qz_mutex *mutex, const struct timespec *realtime);
int qz_cond_clockwait(qz_cond *cond, qz_mutex *mutex, int clock, const struct timespec *time);
int qz_cond_signal(qz_cond *cond);                /* wakes the longest waiter */
int qz_cond_broadcast(qz_cond *cond);

typedef struct qz_sem { uint64_t opaque[6]; } qz_sem;
int qz_sem_init(qz_sem *sem, const char *name, unsigned value); /* at most INT_MAX */
int qz_sem_destroy(qz_sem *sem);
int qz_sem_wait(qz_sem *sem);
int qz_sem_trywait(qz_sem *sem);        /* EAGAIN */
int qz_sem_timedwait(qz_sem *sem, const struct timespec *realtime);
int qz_sem_clockwait(qz_sem *sem, int clock, const struct timespec *time);
int qz_sem_post(qz_sem *sem);           /* EOVERFLOW */
int qz_sem_value(qz_sem *sem);          /* the count */

#define QZ_BARRIER_SERIAL (-1)          /* what qz_barrier_wait returns to one of the threads; 0 to the others */
typedef struct qz_barrier { uint64_t opaque[8]; } qz_barrier;
int qz_barrier_init(qz_barrier *barrier, const char *name, unsigned parties, qz_policy policy);
int qz_barrier_destroy(qz_barrier *barrier);
int qz_barrier_wait(qz_barrier *barrier);

/* Bounded channel of items of one size; capacity 0: a sender waits for its receiver. */
typedef struct qz_channel { uint64_t opaque[12]; } qz_channel;
int qz_channel_init(qz_channel *channel, const char *name, size_t item_bytes, size_t capacity);
int qz_channel_destroy(qz_channel *channel);
int qz_channel_close(qz_channel *channel);                     /* receivers drain it; senders get EPIPE */
int qz_channel_send(qz_channel *channel, const void *item);    /* EPIPE: closed */
int qz_channel_receive(qz_channel *channel, void *item);       /* EPIPE: closed and empty */
int qz_channel_trysend(qz_channel *channel, const void *item); /* EAGAIN */
int qz_channel_tryreceive(qz_channel *channel, void *item);
int qz_channel_timedsend(qz_channel *channel, const void *item, const struct timespec *realtime);
int qz_channel_timedreceive(qz_channel *channel, void *item, const struct timespec *realtime);
int qz_channel_clocksend(qz_channel *channel, const void *item, int clock, const struct timespec *time);
int qz_channel_clockreceive(qz_channel *channel, void *item, int clock, const struct timespec *time);

/* A value that will be set once. */
typedef struct qz_future { uint64_t opaque[6]; } qz_future;
#define QZ_FUTURE_INIT { { 0 } }
int qz_future_init(qz_future *future, const char *name);
int qz_future_destroy(qz_future *future);
int qz_future_set(qz_future *future, void *value);             /* EBUSY: set before */
int qz_future_get(qz_future *future, void **value);            /* waits */
int qz_future_tryget(qz_future *future, void **value);         /* EAGAIN */
int qz_future_timedget(qz_future *future, void **value, const struct timespec *realtime);
int qz_future_clockget(qz_future *future, void **value, int clock, const struct timespec *time);

/* Stops the program with one line that names an object of this file (its address), where it was made, and where the
 * caller is: for layers that cannot pass an error on. `what` was tried, `error` came of it. */
__attribute__((noreturn)) void qz_misuse(const void *object, const char *what, int error);

#ifdef __cplusplus
}
#endif
#endif
