/* What all synchronization objects share: the head of an object, wait queues, spinning, misuse.
 *
 * Owns:    struct qzi_object, struct qzi_queue, struct qzi_spin.
 * Writer:  the files of this folder, each for its own objects; a queue is changed only under its object's internal
 *          lock.
 * Reader:  the same files.
 * Must not: know how threads are scheduled (scheduler/) or how state is published (publisher.h).
 */
#ifndef QZI_SYNC_H
#define QZI_SYNC_H

#include <errno.h>
#include "threadlib/src/base/clock.h"
#include "threadlib/src/base/die.h"
#include "threadlib/src/base/spinlock.h"
#include "threadlib/src/scheduler/park.h"
#include "publisher/publisher.h"

#pragma GCC visibility push(hidden)

/* Called by the runtime when the number of processors is known and no thread except main has run. */
void qzi_sync_start(unsigned processors);

/* The head of every object. All zero: set by a static initializer, and not used yet. */
struct qzi_object {
  struct qzi_pub_object pub; /* name, place, record; after destroy, `site` is the place of the destroy call */
  uint32_t waiting;          /* length of the queue; under the internal lock */
  uint8_t kind;              /* enum qz_kind; 0: static initializer, no init call; QZI_KIND_DESTROYED */
  uint8_t policy;            /* qz_policy */
  uint16_t barges;           /* mutex: unlocks since a waiter was woken; written by the holder, read by that waiter */
};
#define QZI_KIND_DESTROYED 255
/* The index of its record, 0: none yet; any thread may register it at any time. */
static inline uint32_t qzi_object_index(const struct qzi_object *object) {
  return __atomic_load_n(&object->pub.index, __ATOMIC_ACQUIRE);
}

/* A circular list, starting at `head`; head->prev is the tail. */
struct qzi_queue {
  struct qzi_waiter *head;
};

static inline bool qzi_queue_empty(const struct qzi_queue *queue) { return queue->head == NULL; }
static inline struct qzi_waiter *qzi_queue_head(const struct qzi_queue *queue) { return queue->head; }

static inline void qzi_queue_append(struct qzi_queue *queue, struct qzi_waiter *waiter) {
  struct qzi_waiter *head = queue->head;
  if (QZI_UNLIKELY(head != NULL)) {
    waiter->next = head;
    waiter->prev = head->prev;
    head->prev->next = waiter;
    head->prev = waiter;
  } else {
    waiter->next = waiter->prev = waiter;
    queue->head = waiter;
  }
  waiter->queued = true;
}

/* For a thread that was woken but did not get the object: it keeps its place at the front. */
static inline void qzi_queue_prepend(struct qzi_queue *queue, struct qzi_waiter *waiter) {
  qzi_queue_append(queue, waiter);
  queue->head = waiter;
}

static inline void qzi_queue_remove(struct qzi_queue *queue, struct qzi_waiter *waiter) {
  if (QZI_LIKELY(waiter->next == waiter)) {
    queue->head = NULL;
  } else {
    waiter->prev->next = waiter->next;
    waiter->next->prev = waiter->prev;
    if (queue->head == waiter) queue->head = waiter->next;
  }
  waiter->queued = false;
}

/* Returns true if the caller must wake the waiter; false if the waiter's time-out has won, and it will remove itself
 * from the queue. Under the internal lock. */
static inline bool qzi_waiter_claim(struct qzi_waiter *waiter) {
  return QZI_LIKELY(!waiter->timed) || qzi_claim(qzi_waiting_thread(waiter));
}

/* Removes the first waiter whose time-out has not won, and returns it; NULL: none. Under the internal lock. */
static inline struct qzi_waiter *qzi_queue_take(struct qzi_queue *queue, struct qzi_object *object) {
  struct qzi_waiter *waiter;
  while ((waiter = qzi_queue_head(queue))) {
    qzi_queue_remove(queue, waiter);
    object->waiting--;
    qzi_pub_queue(qzi_object_index(object), object->waiting);
    if (qzi_waiter_claim(waiter)) break;
  }
  return waiter;
}

/* True if one processor runs all threads: then nothing runs in parallel with the caller, and internal locks are not
 * needed.
 */
#if QZI_TSAN
#define qzi_alone false
#else
extern bool qzi_alone;
#endif

static inline void qzi_lock(qzi_spinlock *lock) {
  if (!qzi_alone) qzi_spin_lock(lock);
}
static inline void qzi_unlock(qzi_spinlock *lock) {
  if (!qzi_alone) qzi_spin_unlock(lock);
}

/* True if there are more processors than CPUs: a spinning thread must then let the kernel run another processor now
 * and then. */
extern bool qzi_oversubscribed;
extern unsigned qzi_at_once; /* number of processors that can have a CPU at the same time */

/* Operations on words that several processors change. With one processor they are plain instructions. */
static inline uint64_t qzi_word_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline void qzi_word_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline bool qzi_word_swap(uint64_t *word, uint64_t old, uint64_t new) {
  if (qzi_alone) {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) != old) return false;
    __atomic_store_n(word, new, __ATOMIC_RELAXED);
    return true;
  }
  return __atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
static inline void qzi_word_clear(uint64_t *word, uint64_t bits) {
  if (qzi_alone)
    __atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) & ~bits, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(word, ~bits, __ATOMIC_ACQ_REL);
}
static inline void qzi_word_set(uint64_t *word, uint64_t bits) { __atomic_fetch_or(word, bits, __ATOMIC_ACQ_REL); }

/* Initializes the thread's waiter for a new wait. */
static inline struct qzi_waiter *qzi_waiter_of(struct qzi_thread *self, uint64_t since, void *item) {
  self->waiter.since = since;
  self->waiter.item = item;
  self->waiter.timed = self->waiter.plain = self->waiter.given = self->waiter.queued = false;
  return &self->waiter;
}

/* Queues `me` and parks the caller, which must hold `lock`; it is released on return. Returns false if the deadline
 * came first. */
bool qzi_wait(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
              struct qzi_waiter *me, uint64_t deadline_ns);
/* The same; `other` (or NULL) is made ready after the switch away from the caller. */
bool qzi_wait_and_ready(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
                        struct qzi_waiter *me, uint64_t deadline_ns, struct qzi_thread *other);
/* qzi_plain returns true if nothing is published, one processor runs all threads, and the caller is a thread. Then a
 * public function may end with these calls: qzi_wait_alone waits without a deadline (returns 0, or EPIPE if the
 * channel was closed); qzi_wake_alone makes a thread ready that was taken out of its queue (returns 0). */
static inline bool qzi_plain(void) {
  return QZI_LIKELY(qzi_alone) && !qzi_publishing() && QZI_LIKELY(qzi_processor_self() != NULL);
}
int qzi_wait_alone(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, void *item);
int qzi_wake_alone(struct qzi_thread *thread);
/* Takes the waiter, which must be plain, out of its queue, and makes it ready. */
static inline int qzi_give_alone(struct qzi_queue *queue, struct qzi_object *object, struct qzi_waiter *waiter) {
  qzi_queue_remove(queue, waiter);
  object->waiting--;
  waiter->given = true;
  return qzi_wake_alone(qzi_waiting_thread(waiter));
}
/* Makes all waiting threads ready in their order, behind those that are ready already. None may have a deadline. */
void qzi_give_all_alone(struct qzi_queue *queue, struct qzi_object *object);
/* Describes what the thread waits for, and the holder, for the deadlock report. */
void qzi_wait_describe(const struct qzi_thread *thread, char *text, size_t bytes);
/* While publishing is on: records that the caller ends the wait of `thread` (publisher/path.h). Must be called
 * before the thread can be taken by another processor. */
static inline void qzi_lets_go(struct qzi_thread *thread) {
  qzi_path_give(qzi_publisher_self(), &thread->pub, QZ_ARRIVAL_WOKEN);
}
/* Ends and counts the wait of a waiter that was taken out of its queue. Under the internal lock. The caller makes
 * the thread ready after it has released that lock, because waking a processor may take a system call; the waiter
 * does not run until then. *now: the current time, or 0 if it has not been read yet. */
static inline void qzi_wait_ends(struct qzi_object *object, struct qzi_waiter *waiter, bool given, uint64_t *now) {
  if (QZI_UNLIKELY(waiter->since)) {
    if (!*now) *now = qzi_pub_ticks();
    qzi_pub_waited_locked(qzi_object_index(object), qzi_pub_ticks_ns(waiter->since, *now), 0);
    qzi_lets_go(qzi_waiting_thread(waiter));
  }
  waiter->given = given;
}
static inline void qzi_wake(struct qzi_waiter *waiter) {
  if (waiter) qzi_ready(qzi_waiting_thread(waiter));
}
/* Takes out all waiters and ends their waits. Returns a list linked by `next`, for qzi_wake_list after the lock is
 * released. With `given`, each waiter counts as an acquisition. If one processor runs all threads, the waiters are
 * already ready and the list is empty: with a hundred thousand waiters, a second pass would fetch each from memory
 * again. */
struct qzi_waiter *qzi_queue_take_all(struct qzi_queue *queue, struct qzi_object *object, bool given);
void qzi_wake_list(struct qzi_waiter *list);
/* Publishes that the caller is about to block on the object, and stores the object for the deadlock report. */
void qzi_block(struct qzi_object *object, unsigned kind, struct qzi_thread *self);
/* Returns the start time of a wait, in ticks; 0 while nothing is published. */
static inline uint64_t qzi_wait_begins(void) { return qzi_publishing() ? qzi_pub_ticks() : 0; }

/* Busy waiting with increasing pauses, for QUARTZ_SPIN_NS (adaptive) or until the deadline (QZ_SPIN). It is
 * published as spinning. */
struct qzi_spin {
  uint64_t start_ns, now_ns, limit_ns, yield_ns;
  uint32_t index; /* index of the object's record */
  unsigned pauses;
};
void qzi_spin_begin(struct qzi_spin *spin, struct qzi_object *object, qz_policy policy, uint64_t deadline_ns);
bool qzi_spin_more(struct qzi_spin *spin);    /* pauses; returns false if the caller must stop spinning */
uint64_t qzi_spin_end(struct qzi_spin *spin); /* returns the ns spent */

/* For an object that is pushed on the profile stack only if the thread has to wait: returns the index of its record
 * (0: nothing is published), and counts the access. */
static inline uint32_t qzi_use(struct qzi_object *object, unsigned kind, const void *address, uint64_t place,
                               uint32_t capacity) {
  uint32_t index = qzi_pub_object(&object->pub, kind, address, place, capacity);
  if (index) qzi_pub_count(qzi_publisher_self(), place, QZI_PUB_KEY(kind, index));
  return index;
}
/* The thread has to wait: pushes the object. */
static inline void qzi_ask_now(uint32_t index, unsigned kind, struct qzi_thread *self) {
  if (index) qzi_pub_push(qzi_publisher_self(), &self->pub, QZI_PUB_KEY(kind, index));
}
/* For an object that is pushed before it is requested: returns the index of its record (0: nothing is published),
 * pushes it, and counts the access. */
static inline uint32_t qzi_ask(struct qzi_object *object, unsigned kind, const void *address, struct qzi_thread *self,
                               uint64_t place, uint32_t capacity) {
  uint32_t index = qzi_pub_object(&object->pub, kind, address, place, capacity);
  if (index) {
    uint64_t key = QZI_PUB_KEY(kind, index);
    struct qzi_publisher *publisher = qzi_publisher_self();
    qzi_pub_push(publisher, &self->pub, key);
    qzi_pub_count(publisher, place, key);
  }
  return index;
}
/* Pops the object: the wait has ended, or the lock was released. */
static inline void qzi_take_off(uint32_t index, unsigned kind, struct qzi_thread *self) {
  if (index) qzi_pub_pop(&self->pub, QZI_PUB_KEY(kind, index));
}

/* Returns the thread that holds a lock exclusively, for messages. `object` is the head of a mutex or rwlock. */
const struct qzi_thread *qzi_mutex_holder(const struct qzi_object *object);
const struct qzi_thread *qzi_rwlock_holder(const struct qzi_object *object);

/* Initializes the head of an object, for an init call at `place`. */
void qzi_object_init(struct qzi_object *object, unsigned kind, const char *name, qz_policy policy, uint64_t place);
/* Marks the object as destroyed; any later use is misuse. */
void qzi_object_destroy(struct qzi_object *object, unsigned kind, uint64_t place);
/* Aborts the program when a destroyed object is used. An error code would not be reliable, because the memory may
 * belong to another object by now. */
__attribute__((noreturn)) void qzi_object_dead(const struct qzi_object *object, uint64_t place);
static inline void qzi_object_check(const struct qzi_object *object, uint64_t place) {
  if (QZI_UNLIKELY(object->kind == QZI_KIND_DESTROYED)) qzi_object_dead(object, place);
}

/* Converts the time of a timed call into a deadline. Returns 0 or EINVAL, also if `time` is NULL. */
static inline int qzi_until(int clock, const struct timespec *time, uint64_t *deadline_ns) {
  return time ? qzi_deadline(clock, time, deadline_ns) : EINVAL;
}

#pragma GCC visibility pop
#endif
