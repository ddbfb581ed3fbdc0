/* The word of a mutex, its flags, and the waiter that watches it.
 *
 * Owns:    the layout of struct qz_mutex. Included only by mutex.c, whose head says which code writes each field.
 */
#ifndef QZI_SYNC_MUTEX_WORD_H
#define QZI_SYNC_MUTEX_WORD_H

#include "sync.h"

enum {
  WAITERS = 1, /* the queue is not empty */
  WOKEN = 2,   /* one waiter has been woken and does not watch yet: no other one need be woken */
  QLOCK = 4,   /* lock of the queue; never held while waiting */
  HANDED = 8,  /* the holder was given the lock and has not run since: spinning is useless */
  DUE = 16,    /* the woken waiter has been overtaken for too long */
  FLAGS = 63,
};

/* TENURE_NS: how long a waiter may be overtaken. BARGES_PER_LOOK: overtakings between two readings of the clock. A
 * woken waiter that was overtaken MANY_BARGES times before it ran leaves the mutex to the others until it is due,
 * unless it finds it free at FREE_LOOKS looks in a row, with FREE_PAUSES pauses between them. */
enum { TENURE_NS = 20000, BARGES_PER_LOOK = 8, MANY_BARGES = 8, FREE_LOOKS = 10, FREE_PAUSES = 10 };

struct mutex {
  struct qzi_object object;
  uint64_t word;
  uint64_t tenure_ns;       /* when a waiter was last served, or the queue became non-empty */
  struct qzi_waiter *woken; /* the one waiter that is awake; written by the holder or under QLOCK, read without */
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct mutex) <= sizeof(qz_mutex), "qz_mutex");
_Static_assert(_Alignof(struct qzi_thread) > FLAGS, "flags below the address of a thread");

static inline struct qzi_thread *holder(uint64_t word) { return (struct qzi_thread *)(word & ~(uint64_t)FLAGS); }

/* True if the mutex is not held, and its queue lock is free (so it is not about to be handed over). */
static inline bool free_now(uint64_t word) { return !(word & ~(uint64_t)(WAITERS | WOKEN | HANDED | DUE)); }

static inline bool take(struct mutex *mutex, struct qzi_thread *self) {
  for (;;) {
    uint64_t old = qzi_word_load(&mutex->word);
    if (!free_now(old)) return false;
    if (qzi_word_swap(&mutex->word, old, old | (uint64_t)(uintptr_t)self)) return true;
  }
}

/* True if it is worth trying to lock the mutex, or useless to watch it any longer. A mutex of policy QZ_SPIN is
 * watched until it is free, even if it was handed over: its waiters never block. */
static inline bool settled(const struct mutex *mutex, const struct qzi_thread *self, uint64_t word) {
  return holder(word) == NULL || holder(word) == self || ((word & HANDED) && mutex->object.policy != QZ_SPIN);
}

static inline struct qzi_waiter *watcher(const struct mutex *mutex) {
  return __atomic_load_n(&mutex->woken, __ATOMIC_RELAXED);
}
static inline void watched_by(struct mutex *mutex, struct qzi_waiter *waiter) {
  __atomic_store_n(&mutex->woken, waiter, __ATOMIC_RELAXED);
}

/* True if other threads wait for the mutex or watch it. Reads without the lock of the queue, so the answer is a
 * guess. */
static inline bool others(const struct mutex *mutex) {
  return (qzi_word_load(&mutex->word) & (WAITERS | WOKEN)) || watcher(mutex);
}

#endif
