/* Synchronization objects. quartz.h says what holds for all functions; docs/reference/sync.md describes how threads
 * wait and in which order they are served. docs/reference/library.md is generated from these comments
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
 * An object is a variable of the program. It is initialized by its init function or, where one exists, by its static
 * initializer. It must not be moved or copied. `name` is shown in reports; if it is NULL, reports show the place of
 * the init call or, for a static initializer, the name of the variable.
 *
 * - destroy functions return EBUSY while the object is held or waited for; the object then remains usable. Using an
 *   object after it was destroyed aborts the program with a message of one line.
 * - try functions never wait.
 * - timed and clock functions wait until an absolute time. ETIMEDOUT: that time has come; the object is in the same
 *   state as if the call had not been made. EINVAL: the time or the clock is invalid; a free mutex may be locked all
 *   the same, before the time is checked. */

/* How a thread waits for a mutex or barrier. QZ_ADAPTIVE: it spins for QUARTZ_SPIN_NS and then blocks. QZ_BLOCK: it
 * blocks at once. QZ_SPIN: it spins until the wait ends. While a thread is blocked, its processor runs other
 * threads. */
typedef enum qz_policy { QZ_ADAPTIVE = 0, QZ_BLOCK = 1, QZ_SPIN = 2 } qz_policy;

/* # Mutex */

/* At most one thread holds a mutex, and that thread unlocks it. QZ_MUTEX_INIT initializes an adaptive mutex. */
typedef struct qz_mutex {
  uint64_t opaque[7];
} qz_mutex;
/* clang-format off */
#define QZ_MUTEX_INIT {{0}}
/* clang-format on */

/* Errors: init: EINVAL: unknown policy. destroy: EBUSY: the mutex is held or waited for. */
int qz_mutex_init(qz_mutex *mutex, const char *name, qz_policy policy);
int qz_mutex_destroy(qz_mutex *mutex);

/* Lock the mutex; except for trylock, they wait while another thread holds it.
 * Errors: trylock: EBUSY: the mutex is held. The others: EDEADLK: the caller holds the mutex. timedlock and
 * clocklock: ETIMEDOUT, EINVAL. */
int qz_mutex_lock(qz_mutex *mutex);
int qz_mutex_trylock(qz_mutex *mutex);
int qz_mutex_timedlock(qz_mutex *mutex, const struct timespec *realtime);
int qz_mutex_clocklock(qz_mutex *mutex, int clock, const struct timespec *time);

/* Unlocks the mutex. Errors: EPERM: the caller does not hold the mutex. */
int qz_mutex_unlock(qz_mutex *mutex);

/* # Read-write lock */

/* Many threads may hold it for reading, or one thread for writing. It is granted in order of arrival. Therefore a
 * thread must not request a second read lock while it holds one: it would deadlock if a writer has queued between
 * the two requests. */
typedef struct qz_rwlock {
  uint64_t opaque[8];
} qz_rwlock;
/* clang-format off */
#define QZ_RWLOCK_INIT {{0}}
/* clang-format on */

/* Errors: init: none. destroy: EBUSY: the lock is held or waited for. */
int qz_rwlock_init(qz_rwlock *lock, const char *name);
int qz_rwlock_destroy(qz_rwlock *lock);

/* Lock for reading; except for tryrdlock, they wait while the lock is held for writing or a writer that arrived
 * earlier waits.
 * Errors: tryrdlock: EBUSY: the lock cannot be taken at once. The others: EDEADLK: the caller holds the lock for
 * writing. timedrdlock and clockrdlock: ETIMEDOUT, EINVAL. */
int qz_rwlock_rdlock(qz_rwlock *lock);
int qz_rwlock_tryrdlock(qz_rwlock *lock);
int qz_rwlock_timedrdlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockrdlock(qz_rwlock *lock, int clock, const struct timespec *time);

/* Lock for writing; except for trywrlock, they wait while any thread holds the lock. A thread that holds it for
 * reading deadlocks: it waits for itself.
 * Errors: trywrlock: EBUSY: the lock cannot be taken at once. The others: EDEADLK: the caller holds the lock for
 * writing. timedwrlock and clockwrlock: ETIMEDOUT, EINVAL. */
int qz_rwlock_wrlock(qz_rwlock *lock);
int qz_rwlock_trywrlock(qz_rwlock *lock);
int qz_rwlock_timedwrlock(qz_rwlock *lock, const struct timespec *realtime);
int qz_rwlock_clockwrlock(qz_rwlock *lock, int clock, const struct timespec *time);

/* Unlocks, after locking for reading or writing. Errors: EPERM: no thread holds the lock for reading, and the caller
 * does not hold it for writing. */
int qz_rwlock_unlock(qz_rwlock *lock);

/* # Condition */

/* Condition variable, as in POSIX: the wait releases the mutex and has locked it again when it returns. The caller
 * must test its predicate in a loop. */
typedef struct qz_cond {
  uint64_t opaque[6];
} qz_cond;
/* clang-format off */
#define QZ_COND_INIT {{0}}
/* clang-format on */

/* Errors: init: none. destroy: EBUSY: a thread waits. */
int qz_cond_init(qz_cond *cond, const char *name);
int qz_cond_destroy(qz_cond *cond);

/* Wait until the condition is signalled or, for the timed functions, until the time has come. The mutex is held
 * again on return, also after ETIMEDOUT.
 * Errors: EPERM: the caller does not hold the mutex. timedwait and clockwait: ETIMEDOUT, EINVAL. */
int qz_cond_wait(qz_cond *cond, qz_mutex *mutex);
int qz_cond_timedwait(qz_cond *cond, qz_mutex *mutex, const struct timespec *realtime);
int qz_cond_clockwait(qz_cond *cond, qz_mutex *mutex, int clock, const struct timespec *time);

/* signal wakes the thread that has waited longest, broadcast wakes all. The caller need not hold the mutex. Errors:
 * none. */
int qz_cond_signal(qz_cond *cond);
int qz_cond_broadcast(qz_cond *cond);

/* # Semaphore */

/* A counter of units, 0 to INT_MAX. Units are given to threads in order of arrival. It has no static initializer. */
typedef struct qz_sem {
  uint64_t opaque[6];
} qz_sem;

/* `value` is the initial count.
 * Errors: init: EINVAL: `value` is greater than INT_MAX. destroy: EBUSY: a thread waits. */
int qz_sem_init(qz_sem *sem, const char *name, unsigned value);
int qz_sem_destroy(qz_sem *sem);

/* Take a unit; except for trywait, they wait until one is available.
 * Errors: trywait: EAGAIN: the count is 0. timedwait and clockwait: ETIMEDOUT, EINVAL. */
int qz_sem_wait(qz_sem *sem);
int qz_sem_trywait(qz_sem *sem);
int qz_sem_timedwait(qz_sem *sem, const struct timespec *realtime);
int qz_sem_clockwait(qz_sem *sem, int clock, const struct timespec *time);

/* Adds a unit, or gives it to the thread that has waited longest. Errors: EOVERFLOW: the count is INT_MAX. */
int qz_sem_post(qz_sem *sem);

/* Returns the current count; it cannot fail. */
int qz_sem_value(qz_sem *sem);

/* # Barrier */

/* Threads that reach the barrier wait until `parties` of them have reached it; then all continue, and the next round
 * begins. It has no static initializer. */
typedef struct qz_barrier {
  uint64_t opaque[8];
} qz_barrier;

/* Errors: init: EINVAL: `parties` is 0, or the policy is unknown. destroy: EBUSY: a thread waits. */
int qz_barrier_init(qz_barrier *barrier, const char *name, unsigned parties, qz_policy policy);
int qz_barrier_destroy(qz_barrier *barrier);

/* Returns QZ_BARRIER_SERIAL in one thread of each round and 0 in the others; it cannot fail. */
#define QZ_BARRIER_SERIAL (-1)
int qz_barrier_wait(qz_barrier *barrier);

/* # Channel */

/* A bounded FIFO queue of items of one size. Any number of threads may send and receive; they are served in order of
 * arrival. It has no static initializer. */
typedef struct qz_channel {
  uint64_t opaque[12];
} qz_channel;

/* `item_bytes` is the size of an item. `capacity` is the number of sent items that the channel can hold until they
 * are received; with capacity 0, a sender waits until a receiver takes its item. destroy discards items that were
 * not received.
 * Errors: init: EINVAL: the buffer would be larger than the address space. ENOMEM. destroy: EBUSY: a thread waits. */
int qz_channel_init(qz_channel *channel, const char *name, size_t item_bytes, size_t capacity);
int qz_channel_destroy(qz_channel *channel);

/* Ends sending: senders get EPIPE, including those that wait now; receivers get the items that remain, and then
 * EPIPE.
 * Errors: none. */
int qz_channel_close(qz_channel *channel);

/* Copy an item of `item_bytes` bytes into the channel; except for trysend, they wait while the channel is full.
 * Errors: EPIPE: the channel is closed; the item was not sent. trysend: EAGAIN: the channel is full. timedsend and
 * clocksend: ETIMEDOUT, EINVAL. */
int qz_channel_send(qz_channel *channel, const void *item);
int qz_channel_trysend(qz_channel *channel, const void *item);
int qz_channel_timedsend(qz_channel *channel, const void *item, const struct timespec *realtime);
int qz_channel_clocksend(qz_channel *channel, const void *item, int clock, const struct timespec *time);

/* Copy the oldest item to `item` and remove it; except for tryreceive, they wait until there is one.
 * Errors: EPIPE: the channel is closed, and no item is left. tryreceive: EAGAIN: the channel is empty. timedreceive
 * and clockreceive: ETIMEDOUT, EINVAL. */
int qz_channel_receive(qz_channel *channel, void *item);
int qz_channel_tryreceive(qz_channel *channel, void *item);
int qz_channel_timedreceive(qz_channel *channel, void *item, const struct timespec *realtime);
int qz_channel_clockreceive(qz_channel *channel, void *item, int clock, const struct timespec *time);

/* # Future */

/* A pointer that is set once, and that any number of threads can wait for. The program owns the memory that it
 * points to. */
typedef struct qz_future {
  uint64_t opaque[6];
} qz_future;
/* clang-format off */
#define QZ_FUTURE_INIT {{0}}
/* clang-format on */

/* Errors: init: none. destroy: EBUSY: a thread waits. */
int qz_future_init(qz_future *future, const char *name);
int qz_future_destroy(qz_future *future);

/* Sets the value and wakes all threads that wait for it. Errors: EBUSY: the future was set before; it keeps its
 * first value. */
int qz_future_set(qz_future *future, void *value);

/* Store the value in `*value` (unless `value` is NULL); except for tryget, they wait until it is set.
 * Errors: tryget: EAGAIN: the future is not set yet. timedget and clockget: ETIMEDOUT, EINVAL. */
int qz_future_get(qz_future *future, void **value);
int qz_future_tryget(qz_future *future, void **value);
int qz_future_timedget(qz_future *future, void **value, const struct timespec *realtime);
int qz_future_clockget(qz_future *future, void **value, int clock, const struct timespec *time);

/* # Misuse */

/* Aborts the program with a message of one line that names an object of this file, its address, the place where it
 * was made, and the place of the call. It is meant for layers whose functions cannot return an error. `what` is the
 * operation that failed, `error` its error number. */
__attribute__((noreturn)) void qz_misuse(const void *object, const char *what, int error);

#ifdef __cplusplus
}
#endif
#endif
