/* Rings of ready threads and, in a processor's deque, of tasks: spawned calls that are not threads yet. All functions
 * must be called under the biased lock of the processor that owns the ring, with two exceptions: the sizes may be read
 * at any time, and the owner puts tasks in without the lock.
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

/* A spawned call that has not started (docs/reference/threads.md, "Tasks"). It is written and copied in halves of 16
 * bytes, because the number of stores determines the cost of a spawn. */
typedef uint64_t qzi_task_half __attribute__((vector_size(16)));
struct qzi_task {
  union {
    struct {
      void (*entry)(void *); /* for a part of a parallel loop: qzi_run_range */
      void *argument;
      uint64_t site; /* return address of the spawn */
      uint64_t name; /* qzi_pub_name() or 0 */
    };
    qzi_task_half half[2];
  };
};
static inline __attribute__((always_inline)) qzi_task_half qzi_task_of(uint64_t low, uint64_t high) {
  qzi_task_half first = {low, 0}, second = {high, 0};
#if defined(__x86_64__)
  __asm__("" : "+x"(second)); /* gcc would build it in memory, with one more store */
#endif
  return __builtin_shuffle(first, second, (qzi_task_half){0, 2});
}

/* A growing ring of threads. */
struct qzi_ring {
  struct qzi_thread **slot;
  struct qzi_task *task; /* in a deque: the tasks, by slot; else NULL */
  uint32_t mask;
  _Atomic(uint32_t) top;    /* index of the oldest entry */
  _Atomic(uint32_t) bottom; /* index after the youngest entry */
  _Atomic(uint32_t) low;    /* minimum of `bottom` since a thief last set it: entries below it have waited since then */
};

#define QZI_TASK_ROOM 2047u /* so many tasks fit without growing */
/* Initializes an empty ring, with tasks or without. */
void qzi_ring_make(struct qzi_ring *ring, bool tasks);
void qzi_ring_grow(struct qzi_ring *ring);

/* The slot of a task holds the address of its scope, with the lowest bit set, which is clear in a thread's address. */
static inline struct qzi_thread *qzi_task_slot(const struct qzi_scope *scope) {
  return (struct qzi_thread *)((uintptr_t)scope | 1);
}
static inline bool qzi_is_task(const struct qzi_thread *slot) { return (uintptr_t)slot & 1; }
static inline struct qzi_scope *qzi_task_scope(const struct qzi_thread *slot) {
  return (struct qzi_scope *)((uintptr_t)slot & ~(uintptr_t)1);
}

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
  if (QZI_UNLIKELY(((uintptr_t)far | (uintptr_t)near) & 1)) return; /* tasks */
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
/* The entry at `place`, the youngest one, has been taken out. */
static inline void qzi_ring_taken_youngest(struct qzi_ring *ring, uint32_t place) {
  atomic_store_explicit(&ring->bottom, place, memory_order_relaxed);
  if ((int32_t)(place - atomic_load_explicit(&ring->low, memory_order_relaxed)) < 0)
    atomic_store_explicit(&ring->low, place, memory_order_relaxed);
}
static inline struct qzi_thread *qzi_ring_take_youngest(struct qzi_ring *ring) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (bottom == atomic_load_explicit(&ring->top, memory_order_relaxed)) return NULL;
  bottom--;
  qzi_ring_taken_youngest(ring, bottom);
  return ring->slot[bottom & ring->mask];
}
static inline __attribute__((always_inline)) void qzi_ring_ahead_youngest(const struct qzi_ring *ring) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (bottom - atomic_load_explicit(&ring->top, memory_order_relaxed) <= QZI_AHEAD_MANY) return;
  const struct qzi_thread *far = ring->slot[(bottom - 1 - QZI_AHEAD) & ring->mask],
                          *near = ring->slot[(bottom - 1 - QZI_AHEAD / 2) & ring->mask];
  if (QZI_UNLIKELY(((uintptr_t)far | (uintptr_t)near) & 1)) return; /* tasks */
  qzi_ahead_new(far);
  if (qzi_publishing() && near->pub.record) __builtin_prefetch(&near->pub.record->word, 1);
}
static inline struct qzi_thread *qzi_ring_take_oldest(struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t size = atomic_load_explicit(&ring->bottom, memory_order_acquire) -
                  top; /* acquire, because tasks are put in without the lock */
  if (size == 0) return NULL;
  struct qzi_thread *thread = ring->slot[top & ring->mask];
  qzi_ring_ahead(ring, top, top + size);
  atomic_store_explicit(&ring->top, top + 1, memory_order_relaxed);
  return thread;
}

#pragma GCC visibility pop
#endif
