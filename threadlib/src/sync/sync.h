/* What all synchronization objects share: the head of an object, wait queues, spinning, misuse.
 *
 * Owns:    struct qzi_object, struct qzi_queue, struct qzi_spin.
 * Writer:  the files of this folder, each for its own objects; a queue is changed only under its object's internal
 * lock. Reader:  the same. Must not: know how threads are scheduled (scheduler/) or where state is published
 * (publisher.h).
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

/* By the runtime, when the number of processors is known and no thread but main has run. */
void qzi_sync_start(unsigned processors);

/* The head of every object. All zero: made by a static initializer, not used yet. */
struct qzi_object {
  struct qzi_pub_object pub; /* name, place, record; once destroyed, `site` is where that was */
  uint32_t waiting;          /* length of the queue; under the internal lock */
  uint8_t kind;              /* enum qz_kind; 0: static, not initialized by a call; QZI_KIND_DESTROYED */
  uint8_t policy;            /* qz_policy */
  uint16_t barges;           /* mutex: unlocks since a waiter was woken; by the holder, peeked at by that waiter */
};
#define QZI_KIND_DESTROYED 255

/* Circular list from its head; head->prev is the tail. */
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

/* For a thread that was woken without success: it keeps its turn. */
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

/* True: the caller shall wake the waiter; false: its time-out has won, and it is about to take itself out of the queue.
 * Under the internal lock. */
static inline bool qzi_waiter_claim(struct qzi_waiter *waiter) {
  return QZI_LIKELY(!waiter->timed) || qzi_claim(qzi_waiting_thread(waiter));
}

/* Takes out the first waiter whose time-out has not won. Under the internal lock. */
static inline struct qzi_waiter *qzi_queue_take(struct qzi_queue *queue, struct qzi_object *object) {
  struct qzi_waiter *waiter;
  while ((waiter = qzi_queue_head(queue))) {
    qzi_queue_remove(queue, waiter);
    object->waiting--;
    qzi_pub_queue(object->pub.index, object->waiting);
    if (qzi_waiter_claim(waiter)) break;
  }
  return waiter;
}

/* True where one processor runs all threads: then nothing runs beside the caller, and internal locks are superfluous.
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

/* More processors than CPUs: whoever spins must now and then let the kernel run another processor. */
extern bool qzi_oversubscribed;
extern unsigned qzi_at_once; /* processors that have a CPU at once */

/* Words that several processors change. Plain instructions where there is one processor. */
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

/* The waiter of a thread, for a new wait. */
static inline struct qzi_waiter *qzi_waiter_of(struct qzi_thread *self, uint64_t since, void *item) {
  self->waiter.since = since;
  self->waiter.item = item;
  self->waiter.timed = self->waiter.plain = self->waiter.given = self->waiter.queued = false;
  return &self->waiter;
}

/* Queues `me` and parks; `lock` is held by the caller and free on return. False: the deadline came first. */
bool qzi_wait(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
              struct qzi_waiter *me, uint64_t deadline_ns);
/* The same, with `other` (or NULL) made ready when the caller has left. */
bool qzi_wait_and_ready(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
                        struct qzi_waiter *me, uint64_t deadline_ns, struct qzi_thread *other);
/* Nothing is published, one processor runs all threads, and the caller is one. Then these do, as the last thing of a
 * public function: wait without a deadline (0, or EPIPE: closed); make a thread ready that was taken out of its
 * queue (0). */
static inline bool qzi_plain(void) {
  return QZI_LIKELY(qzi_alone) && !qzi_publishing() && QZI_LIKELY(qzi_processor_self() != NULL);
}
int qzi_wait_alone(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, void *item);
int qzi_wake_alone(struct qzi_thread *thread);
/* Takes the waiter, a plain one, out of its queue, and makes it ready. */
static inline int qzi_give_alone(struct qzi_queue *queue, struct qzi_object *object, struct qzi_waiter *waiter) {
  qzi_queue_remove(queue, waiter);
  object->waiting--;
  waiter->given = true;
  return qzi_wake_alone(qzi_waiting_thread(waiter));
}
/* Makes all who wait ready, in their order, behind what is ready already. None has a deadline. */
void qzi_give_all_alone(struct qzi_queue *queue, struct qzi_object *object);
/* What the thread waits for, and who has it, for the deadlock report. */
void qzi_wait_describe(const struct qzi_thread *thread, char *text, size_t bytes);
/* While publishing: the caller lets a thread go on that waits (publisher/path.h). Before that can be taken. */
static inline void qzi_lets_go(struct qzi_thread *thread) {
  qzi_path_give(qzi_publisher_self(), &thread->pub, QZ_ARRIVAL_WOKEN);
}
/* Ends the wait of a waiter that was taken out of its queue, and counts it. Under the internal lock. The caller makes
 * the thread ready when it has released that: waking a processor may take a system call. Until then the waiter stays.
 * *now: the time, 0: not looked up yet. */
static inline void qzi_wait_ends(struct qzi_object *object, struct qzi_waiter *waiter, bool given, uint64_t *now) {
  if (QZI_UNLIKELY(waiter->since)) {
    if (!*now) *now = qzi_pub_ticks();
    qzi_pub_waited_locked(object->pub.index, qzi_pub_ticks_ns(waiter->since, *now), 0);
    qzi_lets_go(qzi_waiting_thread(waiter));
  }
  waiter->given = given;
}
static inline void qzi_wake(struct qzi_waiter *waiter) {
  if (waiter) qzi_ready(qzi_waiting_thread(waiter));
}
/* Takes out all waiters, their waits ended: a list by `next`, for qzi_wake_list when the lock is released. Each waiter
 * counts as an acquisition where it is given something. Where one processor runs all threads they are ready already,
 * and the list is empty: of a hundred thousand each would be fetched from memory twice. */
struct qzi_waiter *qzi_queue_take_all(struct qzi_queue *queue, struct qzi_object *object, bool given);
void qzi_wake_list(struct qzi_waiter *list);
/* Makes it ready, behind those that are; one processor runs all threads. */
void qzi_queue_up_alone(struct qzi_waiter *waiter);
/* Publishes that the caller is about to block, and on what, for the deadlock report. */
void qzi_block(struct qzi_object *object, unsigned kind, struct qzi_thread *self);
/* Time for a wait that begins: 0 where nobody wants to know. */
static inline uint64_t qzi_wait_begins(void) { return qzi_publishing() ? qzi_pub_ticks() : 0; }

/* Busy waiting, with ever longer pauses, for QUARTZ_SPIN_NS (adaptive) or until the deadline (spin). Published as
 * spinning. */
struct qzi_spin {
  uint64_t start_ns, now_ns, limit_ns, yield_ns;
  uint32_t index; /* of the object's record */
  unsigned pauses;
};
void qzi_spin_begin(struct qzi_spin *spin, struct qzi_object *object, qz_policy policy, uint64_t deadline_ns);
bool qzi_spin_more(struct qzi_spin *spin);    /* pauses; false: stop spinning */
uint64_t qzi_spin_end(struct qzi_spin *spin); /* ns spent */

/* The thread is about to use the object, but asks for it only if it has to wait: its record (0: nothing is published),
 * the access counted. */
static inline uint32_t qzi_use(struct qzi_object *object, unsigned kind, const void *address, uint64_t place,
                               uint32_t capacity) {
  uint32_t index = qzi_pub_object(&object->pub, kind, address, place, capacity);
  if (index) qzi_pub_count(qzi_publisher_self(), place, QZI_PUB_KEY(kind, index));
  return index;
}
/* It has to wait: pushed. */
static inline void qzi_ask_now(uint32_t index, unsigned kind, struct qzi_thread *self) {
  if (index) qzi_pub_push(qzi_publisher_self(), &self->pub, QZI_PUB_KEY(kind, index));
}
/* The thread is about to ask for the object: its record (0: nothing is published), pushed, the access counted. */
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
/* The thread waits no longer, or has released. */
static inline void qzi_take_off(uint32_t index, unsigned kind, struct qzi_thread *self) {
  if (index) qzi_pub_pop(&self->pub, QZI_PUB_KEY(kind, index));
}

/* Who holds a lock exclusively, for messages. `object` is the head of a mutex or rwlock. */
const struct qzi_thread *qzi_mutex_holder(const struct qzi_object *object);
const struct qzi_thread *qzi_rwlock_holder(const struct qzi_object *object);

/* Makes the head of an object, by an init call at `place`. */
void qzi_object_init(struct qzi_object *object, unsigned kind, const char *name, qz_policy policy, uint64_t place);
/* The object is no more; its use is misuse from now on. */
void qzi_object_destroy(struct qzi_object *object, unsigned kind, uint64_t place);
/* Stops the program when a destroyed object is used: the memory may belong to something else, no code can say so. */
__attribute__((noreturn)) void qzi_object_dead(const struct qzi_object *object, uint64_t place);
static inline void qzi_object_check(const struct qzi_object *object, uint64_t place) {
  if (QZI_UNLIKELY(object->kind == QZI_KIND_DESTROYED)) qzi_object_dead(object, place);
}

/* A deadline from a timed call: 0 or EINVAL. NULL is EINVAL, too. */
static inline int qzi_until(int clock, const struct timespec *time, uint64_t *deadline_ns) {
  return time ? qzi_deadline(clock, time, deadline_ns) : EINVAL;
}

#pragma GCC visibility pop
#endif
