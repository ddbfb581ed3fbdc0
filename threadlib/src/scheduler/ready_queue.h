/* Rings of ready threads and, in a processor's deque, of tasks: spawned calls that are no threads yet. All calls are
 * made under the biased lock of the processor that has the ring, but for the sizes, which anybody may peek at, and for
 * tasks, which their owner puts in without it.
 *
 * Owns:    struct qzi_ring.
 */
#ifndef QZI_READY_QUEUE_H
#define QZI_READY_QUEUE_H

#include "threadlib/src/base/thread.h"

#pragma GCC visibility push(hidden)

/* How far ahead of its turn a thread is asked for where many are ready, and how much of its stack. */
#ifndef QZI_AHEAD
#define QZI_AHEAD           12
#define QZI_AHEAD_LINES     3
#define QZI_AHEAD_NEW_LINES 5
#define QZI_AHEAD_MANY      128 /* new threads: with fewer they are in the caches */
#endif

/* What a thread that begins, or comes back to its list of free ones, touches first; and the top of its stack. Where
 * there are many, it has left all caches. (Expanded always: gcc drops calls of a function that only prefetches.) */
static inline __attribute__((always_inline)) void qzi_ahead_descriptor(const struct qzi_thread *thread) {
  __builtin_prefetch(thread, 1);
  __builtin_prefetch(&thread->pub, 1);
}
static inline __attribute__((always_inline)) void qzi_ahead_new(const struct qzi_thread *thread) {
  qzi_ahead_descriptor(thread);
  for (int line = 1; line <= QZI_AHEAD_NEW_LINES; line++) __builtin_prefetch((const char *)thread - 64 * line, 1);
}

/* A spawned call that nobody has begun (docs/reference/threads.md, "Tasks"). Written and copied by halves: what bounds
 * a spawn are the stores. */
typedef uint64_t qzi_task_half __attribute__((vector_size(16)));
struct qzi_task {
  union {
    struct {
      void (*entry)(void *); /* of a part of a parallel loop: qzi_run_range */
      void *argument;
      uint64_t site; /* return address of the call that spawned it */
      uint64_t name; /* qzi_pub_name() or 0 */
    };
    qzi_task_half half[2];
  };
};
static inline __attribute__((always_inline)) qzi_task_half qzi_task_of(uint64_t low, uint64_t high) {
  qzi_task_half first = {low, 0}, second = {high, 0};
#if defined(__x86_64__)
  __asm__("" : "+x"(second)); /* gcc would go through memory, with one more store */
#endif
  return __builtin_shuffle(first, second, (qzi_task_half){0, 2});
}

/* A growing ring of threads. */
struct qzi_ring {
  struct qzi_thread **slot;
  struct qzi_task *task; /* deque: those of the slots that hold one; else NULL */
  uint32_t mask;
  _Atomic(uint32_t) top;    /* oldest */
  _Atomic(uint32_t) bottom; /* one after the youngest */
  _Atomic(uint32_t) low;    /* smallest bottom since a thief last set it: what is below has waited since then */
};

#define QZI_TASK_ROOM 2047u /* tasks need not make it grow */
/* An empty ring; has tasks or not. */
void qzi_ring_make(struct qzi_ring *ring, bool tasks);
void qzi_ring_grow(struct qzi_ring *ring);

/* The slot of a task holds its scope, with a mark that no thread's address has. */
static inline struct qzi_thread *qzi_task_slot(const struct qzi_scope *scope) {
  return (struct qzi_thread *)((uintptr_t)scope | 1);
}
static inline bool qzi_is_task(const struct qzi_thread *slot) { return (uintptr_t)slot & 1; }
static inline struct qzi_scope *qzi_task_scope(const struct qzi_thread *slot) {
  return (struct qzi_scope *)((uintptr_t)slot & ~(uintptr_t)1);
}

/* The top first: so a ring is never seen empty while threads leave it and others come (qz_yield). */
static inline uint32_t qzi_ring_size(const struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_acquire);
  return atomic_load_explicit(&ring->bottom, memory_order_relaxed) - top;
}
/* Where many are ready their stacks are far away: asks for those of the next ones. */
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
/* What was at `place`, the last one, is taken out. */
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
  uint32_t size = atomic_load_explicit(&ring->bottom, memory_order_acquire) - top; /* tasks come without the lock */
  if (size == 0) return NULL;
  struct qzi_thread *thread = ring->slot[top & ring->mask];
  qzi_ring_ahead(ring, top, top + size);
  atomic_store_explicit(&ring->top, top + 1, memory_order_relaxed);
  return thread;
}

#pragma GCC visibility pop
#endif
