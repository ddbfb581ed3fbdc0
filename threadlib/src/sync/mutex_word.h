/* The word of a mutex, and what its flags and the waiter that watches it say.
 *
 * Owns:    the layout of struct qz_mutex. Included by mutex.c alone, whose head says who writes what.
 */
#ifndef QZI_SYNC_MUTEX_WORD_H
#define QZI_SYNC_MUTEX_WORD_H

#include "sync.h"

enum {
  WAITERS = 1, /* the queue is not empty */
  WOKEN = 2,   /* one waiter has been woken, and does not watch yet: no need to wake another */
  QLOCK = 4,   /* lock of the queue; never held across a wait */
  HANDED = 8,  /* the holder was given the lock, and has not run since: no use in spinning */
  DUE = 16,    /* the woken waiter has been overtaken for too long */
  FLAGS = 63,
};

/* How long a waiter may be overtaken, and how many overtakings pass between two looks at the clock. A woken waiter that
 * was overtaken MANY_BARGES times before it ran leaves the mutex to the others until it is due, unless it finds it free
 * at so many looks in a row, with so many pauses in between. */
enum { TENURE_NS = 20000, BARGES_PER_LOOK = 8, MANY_BARGES = 8, FREE_LOOKS = 10, FREE_PAUSES = 10 };

struct mutex {
  struct qzi_object object;
  uint64_t word;
  uint64_t tenure_ns;       /* when a waiter last got its turn, or the queue began */
  struct qzi_waiter *woken; /* the one waiter that is awake; changed by the holder, or under QLOCK; peeked at */
  struct qzi_queue queue;
} __attribute__((may_alias));
_Static_assert(sizeof(struct mutex) <= sizeof(qz_mutex), "qz_mutex");
_Static_assert(_Alignof(struct qzi_thread) > FLAGS, "flags below the address of a thread");

static inline struct qzi_thread *holder(uint64_t word) { return (struct qzi_thread *)(word & ~(uint64_t)FLAGS); }

/* Nobody holds it, and nobody is about to hand it over. */
static inline bool free_now(uint64_t word) { return !(word & ~(uint64_t)(WAITERS | WOKEN | HANDED | DUE)); }

static inline bool take(struct mutex *mutex, struct qzi_thread *self) {
  for (;;) {
    uint64_t old = qzi_word_load(&mutex->word);
    if (!free_now(old)) return false;
    if (qzi_word_swap(&mutex->word, old, old | (uint64_t)(uintptr_t)self)) return true;
  }
}

/* Worth an attempt, or no use in watching it any longer. A mutex whose waiters spin is watched until it is free,
 * whoever it was handed to: they never block. */
static inline bool settled(const struct mutex *mutex, const struct qzi_thread *self, uint64_t word) {
  return holder(word) == NULL || holder(word) == self || ((word & HANDED) && mutex->object.policy != QZ_SPIN);
}

static inline struct qzi_waiter *watcher(const struct mutex *mutex) {
  return __atomic_load_n(&mutex->woken, __ATOMIC_RELAXED);
}
static inline void watched_by(struct mutex *mutex, struct qzi_waiter *waiter) {
  __atomic_store_n(&mutex->woken, waiter, __ATOMIC_RELAXED);
}

/* Others wait for it, or watch it. Read without its queue lock: for a guess. */
static inline bool others(const struct mutex *mutex) {
  return (qzi_word_load(&mutex->word) & (WAITERS | WOKEN)) || watcher(mutex);
}

#endif
