/* Rings of threads that ran before and are ready again. All functions must be called under the biased lock of the
 * processor that owns the ring, except that the size may be read at any time. New threads are in a deque (deque.h).
 *
 * Owns:    struct qzi_ring.
 */
#ifndef QZI_READY_QUEUE_H
#define QZI_READY_QUEUE_H

#include "threadlib/src/base/thread.h"

#pragma GCC visibility push(hidden)

/* How many entries ahead a thread is prefetched if many are ready, and how many cache lines of its stack. */
#ifndef QZI_AHEAD
#define QZI_AHEAD           12
#define QZI_AHEAD_LINES     3
#define QZI_AHEAD_NEW_LINES 5
#define QZI_AHEAD_MANY      128 /* new threads; if there are fewer, they are in the caches */
#endif

/* Prefetches what is accessed first in a thread that starts or in a descriptor that is freed, and the top of its
 * stack. If there are many threads, these lines are no longer in any cache. (Always inlined: gcc removes calls of a
 * function that only prefetches.) */
static inline __attribute__((always_inline)) void qzi_ahead_descriptor(const struct qzi_thread *thread) {
  __builtin_prefetch(thread, 1);
  __builtin_prefetch(&thread->pub, 1);
}
static inline __attribute__((always_inline)) void qzi_ahead_new(const struct qzi_thread *thread) {
  qzi_ahead_descriptor(thread);
  for (int line = 1; line <= QZI_AHEAD_NEW_LINES; line++) __builtin_prefetch((const char *)thread - 64 * line, 1);
}

/* A growing ring of threads. */
struct qzi_ring {
  struct qzi_thread **slot;
  uint32_t mask;
  _Atomic(uint32_t) top;    /* index of the oldest entry */
  _Atomic(uint32_t) bottom; /* index after the youngest entry */
};

/* Initializes an empty ring. */
void qzi_ring_make(struct qzi_ring *ring);
void qzi_ring_grow(struct qzi_ring *ring);

/* Loads the top first: so the ring never seems empty while threads leave and others are added (qz_yield). */
static inline uint32_t qzi_ring_size(const struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_acquire);
  return atomic_load_explicit(&ring->bottom, memory_order_relaxed) - top;
}
/* With many ready threads, their stacks are not in the caches: prefetches those of the next ones. */
static inline __attribute__((always_inline)) void qzi_ring_ahead(const struct qzi_ring *ring, uint32_t top,
                                                                 uint32_t bottom) {
  if (bottom - top <= QZI_AHEAD * 2) return;
  const struct qzi_thread *far = ring->slot[(top + QZI_AHEAD * 2) & ring->mask],
                          *near = ring->slot[(top + QZI_AHEAD) & ring->mask];
  __builtin_prefetch(far, 1);
  if (qzi_publishing()) {
    __builtin_prefetch(&far->pub, 1);
    if (near->pub.record) __builtin_prefetch(&near->pub.record->word, 1);
  }
  const char *context = (const char *)near->context;
  for (int line = 0; line < QZI_AHEAD_LINES; line++) __builtin_prefetch(context + 64 * line, 1);
}
static inline void qzi_ring_push(struct qzi_ring *ring, struct qzi_thread *thread) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (QZI_UNLIKELY(bottom - atomic_load_explicit(&ring->top, memory_order_relaxed) >= ring->mask)) qzi_ring_grow(ring);
  ring->slot[bottom & ring->mask] = thread;
  atomic_store_explicit(&ring->bottom, bottom + 1, memory_order_release);
}
static inline struct qzi_thread *qzi_ring_take_oldest(struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t size = atomic_load_explicit(&ring->bottom, memory_order_relaxed) - top;
  if (size == 0) return NULL;
  struct qzi_thread *thread = ring->slot[top & ring->mask];
  qzi_ring_ahead(ring, top, top + size);
  atomic_store_explicit(&ring->top, top + 1, memory_order_relaxed);
  return thread;
}

#pragma GCC visibility pop
#endif
