/* Synchronization objects. What holds for all functions is said in quartz.h; docs/reference/sync.md says how threads
 * wait and in which order they get their turn. docs/reference/library.md is made from these comments
 * (scripts/library-page.js). */
#ifndef QUARTZ_SYNC_H
#define QUARTZ_SYNC_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <quartz/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* # Synchronization objects
 *
 * An object is a variable of the program, made by its init function or, where there is one, by its static
 * initializer. It must not be moved or copied. `name` is shown in reports; NULL: the place that made the object, or
 * the variable of a static initializer.
 *
 * - destroy fails with EBUSY where the object is held or waited for, and the object stays usable. To use an object
 *   after it was destroyed stops the program with one line.
 * - try functions never wait.
 * - timed and clock functions wait until a time. ETIMEDOUT: it came; the object is as if the call had not been made.
 *   EINVAL: there is no such time, or no such clock; a mutex that is free may be taken all the same. */

/* How a thread waits for a mutex or barrier: spins for QUARTZ_SPIN_NS and then blocks; blocks at once; spins all the
 * time. A thread that blocks lets its processor run others. */
typedef enum qz_policy { QZ_ADAPTIVE = 0, QZ_BLOCK = 1, QZ_SPIN = 2 } qz_policy;

/* # Mutex */

/* Only one thread at a time holds it, and that one unlocks it. QZ_MUTEX_INIT makes an adaptive one. */
typedef struct qz_mutex {
  uint64_t opaque[7];
} qz_mutex;
/* clang-format off */
#define QZ_MUTEX_INIT {{0}}
/* clang-format on */

/* Errors: init EINVAL: no such policy. destroy EBUSY: it is held, or waited for. */
int qz_mutex_init(qz_mutex *mutex, const char *name, qz_policy policy);
int qz_mutex_destroy(qz_mutex *mutex);

/* Take it; but for trylock, wait while another thread holds it.
 * Errors: trylock EBUSY: it is held. The others EDEADLK: the caller holds it. timedlock and clocklock ETIMEDOUT,
 * EINVAL. */
int qz_mutex_lock(qz_mutex *mutex);
int qz_mutex_trylock(qz_mutex *mutex);
int qz_mutex_timedlock(qz_mutex *mutex, const struct timespec *realtime);
int qz_mutex_clocklock(qz_mutex *mutex, int clock, const struct timespec *time);

/* Lets it go. Errors: EPERM: the caller does not hold it. */
int qz_mutex_unlock(qz_mutex *mutex);

/* # Read-write lock */

/* Many threads may hold it for reading, or one for writing. Turns are in order of arrival, so a thread must not ask
 * for a second read lock while it has one: a writer may have queued between the two. */
typedef struct qz_rwlock {
  uint64_t opaque[8];
} qz_rwlock;
/* clang-format off */
#define QZ_RWLOCK_INIT {{0}}
/* clang-format on */

/* Errors: init none. destroy EBUSY: it is held, or waited for. */
int qz_rwlock_init(qz_rwlock *lock, const char *name);
int qz_rwlock_destroy(qz_rwlock *lock);

/* Take it for reading; but for try, wait while it is held for writing, or a writer came before.
 * Errors: try EBUSY: not to be had at once. The others EDEADLK: the caller has it for writing. timed and clock
 * ETIMEDOUT, EINVAL. */
int qz_rwlock_rdlock(qz_rwlock *lock);
int qz_rwlock_tryrdlock(qz_rwlock *lock);
int qz_rwlock_timedrdlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockrdlock(qz_rwlock *lock, int clock, const struct timespec *time);

/* Take it for writing; but for try, wait while anybody holds it. A thread that has it for reading waits for itself,
 * for ever.
 * Errors: try EBUSY: not to be had at once. The others EDEADLK: the caller has it for writing. timed and clock
 * ETIMEDOUT, EINVAL. */
int qz_rwlock_wrlock(qz_rwlock *lock);
int qz_rwlock_trywrlock(qz_rwlock *lock);
int qz_rwlock_timedwrlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockwrlock(qz_rwlock *lock, int clock, const struct timespec *time);

/* Lets it go. Errors: EPERM: nobody has it for reading, and the caller not for writing. */
int qz_rwlock_unlock(qz_rwlock *lock);

/* # Condition */

/* As in POSIX: the mutex is released while the thread waits, and has been taken again when the call returns, so the
 * predicate is to be tested in a loop. */
typedef struct qz_cond {
  uint64_t opaque[6];
} qz_cond;
/* clang-format off */
#define QZ_COND_INIT {{0}}
/* clang-format on */

/* Errors: init none. destroy EBUSY: a thread waits. */
int qz_cond_init(qz_cond *cond, const char *name);
int qz_cond_destroy(qz_cond *cond);

/* Wait until somebody signals, or the time comes; the mutex is held in both cases.
 * Errors: EPERM: the caller does not hold the mutex. timed and clock ETIMEDOUT, EINVAL. */
int qz_cond_wait(qz_cond *cond, qz_mutex *mutex);
int qz_cond_timedwait(qz_cond *cond, qz_mutex *mutex, const struct timespec *realtime);
int qz_cond_clockwait(qz_cond *cond, qz_mutex *mutex, int clock, const struct timespec *time);

/* Wake the thread that has waited longest, or all. The mutex need not be held. Errors: none. */
int qz_cond_signal(qz_cond *cond);
int qz_cond_broadcast(qz_cond *cond);

/* # Semaphore */

/* A count of units, 0 to INT_MAX, given to threads in order of arrival. Made by qz_sem_init alone. */
typedef struct qz_sem {
  uint64_t opaque[6];
} qz_sem;

/* Errors: init EINVAL: `value`, the first count, is above INT_MAX. destroy EBUSY: a thread waits. */
int qz_sem_init(qz_sem *sem, const char *name, unsigned value);
int qz_sem_destroy(qz_sem *sem);

/* Take a unit; but for try, wait until there is one.
 * Errors: try EAGAIN: there is none. timed and clock ETIMEDOUT, EINVAL. */
int qz_sem_wait(qz_sem *sem);
int qz_sem_trywait(qz_sem *sem);
int qz_sem_timedwait(qz_sem *sem, const struct timespec *realtime);
int qz_sem_clockwait(qz_sem *sem, int clock, const struct timespec *time);

/* Gives a unit. Errors: EOVERFLOW: the count is INT_MAX. */
int qz_sem_post(qz_sem *sem);

/* Returns the count, no error. */
int qz_sem_value(qz_sem *sem);

/* # Barrier */

/* Threads that come wait until `parties` of them are there; then all go on, and the next round begins. Made by
 * qz_barrier_init alone. */
typedef struct qz_barrier {
  uint64_t opaque[8];
} qz_barrier;

/* Errors: init EINVAL: 0 parties, or no such policy. destroy EBUSY: a thread waits. */
int qz_barrier_init(qz_barrier *barrier, const char *name, unsigned parties, qz_policy policy);
int qz_barrier_destroy(qz_barrier *barrier);

/* Returns QZ_BARRIER_SERIAL to one thread of a round and 0 to the others; no error. */
#define QZ_BARRIER_SERIAL (-1)
int qz_barrier_wait(qz_barrier *barrier);

/* # Channel */

/* A bounded queue of items of one size. Any number of threads send and receive, in order of arrival. Made by
 * qz_channel_init alone. */
typedef struct qz_channel {
  uint64_t opaque[12];
} qz_channel;

/* `item_bytes`: the size of an item, `capacity`: how many items that nobody has received yet it holds; 0: a sender
 * waits for its receiver.
 * Errors: init EINVAL: larger than the address space; ENOMEM. destroy EBUSY: a thread waits. Items that are left are
 * lost. */
int qz_channel_init(qz_channel *channel, const char *name, size_t item_bytes, size_t capacity);
int qz_channel_destroy(qz_channel *channel);

/* No more will be sent: receivers get what is left, and then EPIPE; senders get EPIPE, those that wait now too.
 * Errors: none. */
int qz_channel_close(qz_channel *channel);

/* Copy an item of `item_bytes` into the channel; but for try, wait while it is full.
 * Errors: EPIPE: it is closed, the item was not sent. try EAGAIN: it is full. timed and clock ETIMEDOUT, EINVAL. */
int qz_channel_send(qz_channel *channel, const void *item);
int qz_channel_trysend(qz_channel *channel, const void *item);
int qz_channel_timedsend(qz_channel *channel, const void *item, const struct timespec *realtime);
int qz_channel_clocksend(qz_channel *channel, const void *item, int clock, const struct timespec *time);

/* Copy the oldest item to `item`; but for try, wait until there is one.
 * Errors: EPIPE: it is closed, and no item is left. try EAGAIN: it is empty. timed and clock ETIMEDOUT, EINVAL. */
int qz_channel_receive(qz_channel *channel, void *item);
int qz_channel_tryreceive(qz_channel *channel, void *item);
int qz_channel_timedreceive(qz_channel *channel, void *item, const struct timespec *realtime);
int qz_channel_clockreceive(qz_channel *channel, void *item, int clock, const struct timespec *time);

/* # Future */

/* A pointer that is set once; any number of threads wait for it. What it points to belongs to the program. */
typedef struct qz_future {
  uint64_t opaque[6];
} qz_future;
/* clang-format off */
#define QZ_FUTURE_INIT {{0}}
/* clang-format on */

/* Errors: init none. destroy EBUSY: a thread waits. */
int qz_future_init(qz_future *future, const char *name);
int qz_future_destroy(qz_future *future);

/* Gives it its value. Errors: EBUSY: it was set before, and keeps its first value. */
int qz_future_set(qz_future *future, void *value);

/* Store its value in `*value` (unless `value` is NULL); but for try, wait until it is set.
 * Errors: try EAGAIN: it is not set yet. timed and clock ETIMEDOUT, EINVAL. */
int qz_future_get(qz_future *future, void **value);
int qz_future_tryget(qz_future *future, void **value);
int qz_future_timedget(qz_future *future, void **value, const struct timespec *realtime);
int qz_future_clockget(qz_future *future, void **value, int clock, const struct timespec *time);

/* # Misuse */

/* Stops the program with one line that names an object of this file (its address), where it was made, and where the
 * caller is: for layers that cannot pass an error on. `what` was tried, `error` came of it. */
__attribute__((noreturn)) void qz_misuse(const void *object, const char *what, int error);

#ifdef __cplusplus
}
#endif
#endif
