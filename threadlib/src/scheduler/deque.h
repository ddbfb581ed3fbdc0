/* A processor's deque: new threads, and tasks, which are spawned calls that are not threads
 * (docs/reference/threads.md, "Tasks"). The owner puts in and takes out at the bottom, thieves take out at the top.
 *
 * Owns:    struct qzi_entry, struct qzi_deque.
 * Writer:  the holder of the processor's biased lock. Without it, the owner puts a task in, as long as `open` allows,
 *          and calls the youngest one in place (thread/fork_join.c, fork_join_published.c). Others close the deque
 *          (`open`, `published` and `spanned`).
 * Reader:  the same; qzi_deque_waiting at any time, without the lock.
 *
 * The entries are an array, not a ring, so that the owner needs no index: when the deque is found to be empty, it
 * begins at the base again, and when its end is reached, its entries are moved.
 */
#ifndef QZI_DEQUE_H
#define QZI_DEQUE_H

#include "ready_queue.h"

#pragma GCC visibility push(hidden)

typedef uint64_t qzi_entry_half __attribute__((vector_size(16)));
struct qzi_entry {
  struct qzi_thread *slot; /* a thread; or a task: its scope, with the lowest bit set; or one of the values below */
  /* of a task: */
  void (*entry)(void *); /* for a part of a parallel loop: qzi_run_range */
  void *argument;
  /* While the parent calls it in place: stack pointer and frame pointer of the function that calls, which qz_exit
   * restores (elsewhere than on x86-64, `sp` is the token of qzi_call). `frame` is 0 in all entries that are not called
   * in place. */
  void *sp;
  union { /* stored together: fewer instructions */
    struct {
      uint64_t site; /* return address of the spawn */
      union {
        struct {
          uint32_t name;   /* qzi_pub_name() or 0 */
          uint32_t record; /* index + 1 of its record in the session; 0: it is not published */
        };
        uint64_t name_and_record;
      };
    };
    qzi_entry_half half;
  };
  uintptr_t frame;
  union {
    uint64_t chain;  /* if it is published: its chain (publisher/path.h) */
    size_t capacity; /* in the entry before the base: number of entries from the base on */
  };
} __attribute__((aligned(64)));

/* The slot of an entry that has left the deque while others were above and below it. Whoever finds it at an end of the
 * deque moves that end. */
#define QZI_GONE_THREAD ((struct qzi_thread *)2)
#define QZI_GONE_TASK   ((struct qzi_thread *)6)
static inline bool qzi_is_gone(const struct qzi_thread *slot) { return (uintptr_t)slot & 2; }
static inline struct qzi_thread *qzi_task_slot(const struct qzi_scope *scope) {
  return (struct qzi_thread *)((uintptr_t)scope | 1);
}
static inline bool qzi_is_task(const struct qzi_thread *slot) { return (uintptr_t)slot & 1; }
static inline struct qzi_scope *qzi_task_scope(const struct qzi_thread *slot) {
  return (struct qzi_scope *)((uintptr_t)slot & ~(uintptr_t)1);
}

/* All fields are accessed atomically where more than the holder of the lock accesses them. */
struct qzi_deque {
  struct qzi_entry *bottom; /* after the youngest entry */
  /* Below it the owner may put tasks without the lock. NULL: closed; then it may not call one in place, either. */
  struct qzi_entry *open;
  struct qzi_entry *published; /* the same for published tasks; one of the two is NULL */
  struct qzi_entry *low;       /* minimum of `bottom` since a thief last set it: entries below have waited since then */
  struct qzi_entry *top;       /* the oldest entry */
  struct qzi_entry *base, *end;
  struct qzi_entry *limit;   /* tasks are only below it, where a descriptor is reserved for each place */
  uint32_t gone;             /* number of entries that are QZI_GONE_TASK: none is reserved for them */
  uint32_t room;             /* maximum number of tasks; 0 if the kernel has no membarrier */
  uint32_t mode;             /* qzi_task_mode() of the tasks in it; written by the owner, while it has none */
  struct qzi_entry *spanned; /* if it is open for tasks whose work and span are recorded, which are put in below the
                                limit: not NULL; then both `open` and `published` are */
};
#define QZI_TASK_ROOM         2047u

#define QZI_GET(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define QZI_SET(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
/* The same as QZI_GET, as the operand of a comparison instead of an instruction of its own: gcc does not do that with
 * atomic loads. Between memory barriers of the compiler. */
#if defined(__x86_64__) && !defined(QZI_TSAN)
#define QZI_PEEK(field) (field)
#else
#define QZI_PEEK(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#endif

/* Copies what is to be called; not the slot, nor what belongs to a call in place. */
static inline void qzi_task_copy(struct qzi_entry *to, const struct qzi_entry *from) {
  to->entry = from->entry;
  to->argument = from->argument;
  to->half = from->half;
  to->chain = from->chain;
}

void qzi_deque_make(struct qzi_deque *deque, uint32_t room);
/* Makes room for one more entry. */
void qzi_deque_grow(struct qzi_deque *deque);
/* Returns how many of the entries below `below` (NULL: all) wait to be taken, at most `most`: those that are called in
 * place or have left are not counted; *tasks of them are tasks. May be called at any time; if entries are being moved,
 * it returns `most`. */
uint32_t qzi_deque_waiting(const struct qzi_deque *deque, const struct qzi_entry *below, uint32_t most,
                           uint32_t *tasks);
static inline bool qzi_deque_waits(const struct qzi_deque *deque) {
  if (QZI_GET(deque->bottom) == QZI_GET(deque->top)) return false;
  uint32_t tasks;
  return qzi_deque_waiting(deque, NULL, 1, &tasks) != 0;
}

/* Returns an upper bound of the number of tasks in the deque, also of those called in place. The processor keeps as
 * many free descriptors for them, so that each can always become a thread. A task that leaves takes its descriptor with
 * it. */
static inline ptrdiff_t qzi_tasks_most(const struct qzi_deque *deque) {
  ptrdiff_t most = deque->limit - QZI_GET(deque->top) - (ptrdiff_t)deque->gone;
  return most > 0 ? most : 0;
}
/* Returns whether one of so many free descriptors may be used for something else than these tasks. */
static inline bool qzi_some_free(const struct qzi_deque *deque, uint32_t free_count) {
  return free_count && (ptrdiff_t)free_count > deque->limit - QZI_GET(deque->top) - (ptrdiff_t)deque->gone;
}
static inline void qzi_deque_limit(struct qzi_deque *deque, struct qzi_entry *limit) {
  deque->limit = limit;
  QZI_SET(deque->open, NULL);
  QZI_SET(deque->published, NULL);
}
/* By others than the owner, after they have set what they want of it: see qzi_deque_reopen, thread/task.c. */
static inline void qzi_deque_close(struct qzi_deque *deque) {
  __atomic_store_n(&deque->open, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n(&deque->published, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n(&deque->spanned, NULL, __ATOMIC_SEQ_CST);
}
/* Returns whether the owner may put a task in whose work and span are recorded. */
static inline bool qzi_deque_spanned(const struct qzi_deque *deque, const struct qzi_entry *bottom) {
  return QZI_PEEK(deque->spanned) && bottom < deque->limit;
}
static inline void qzi_deque_push(struct qzi_deque *deque, struct qzi_thread *thread) {
  if (QZI_UNLIKELY(QZI_GET(deque->bottom) == deque->end)) qzi_deque_grow(deque);
  struct qzi_entry *entry = QZI_GET(deque->bottom);
  QZI_SET(entry->slot, thread);
  __atomic_store_n(&deque->bottom, entry + 1, __ATOMIC_RELEASE);
}
/* The youngest entry leaves. */
static inline void qzi_deque_taken(struct qzi_deque *deque, struct qzi_entry *entry) {
  QZI_SET(deque->bottom, entry);
  if (QZI_UNLIKELY(entry < QZI_GET(deque->low))) QZI_SET(deque->low, entry);
}
/* The oldest entry that is not called in place leaves. Returns it, with its contents, which stay until the lock is
 * released, except the slot, which is stored in *slot; NULL: there is none. */
struct qzi_entry *qzi_deque_leaves(struct qzi_deque *deque, struct qzi_thread **slot);
/* The same for up to `most` tasks, together, as far as the oldest entries are tasks that are not called in place:
 * copies them to `to`, and returns their number. The cache lines of the deque are read, and but one of them is not
 * written. */
uint32_t qzi_deque_tasks_leave(struct qzi_deque *deque, struct qzi_entry *to, uint32_t most);
/* Returns the youngest entry, which remains in the deque; NULL: there is none. */
struct qzi_entry *qzi_deque_below_gone(struct qzi_deque *deque);
static inline struct qzi_entry *qzi_deque_youngest(struct qzi_deque *deque) {
  struct qzi_entry *bottom = QZI_GET(deque->bottom);
  if (QZI_LIKELY(bottom != QZI_GET(deque->top)) && QZI_LIKELY(!qzi_is_gone(QZI_GET(bottom[-1].slot))))
    return bottom - 1;
  return QZI_LIKELY(bottom == deque->base) ? NULL : qzi_deque_below_gone(deque);
}
static inline __attribute__((always_inline)) void qzi_deque_ahead_youngest(const struct qzi_deque *deque) {
  const struct qzi_entry *bottom = QZI_GET(deque->bottom);
  if (bottom - QZI_GET(deque->top) <= QZI_AHEAD_MANY) return;
  const struct qzi_thread *far = QZI_GET(bottom[-1 - QZI_AHEAD].slot), *near = QZI_GET(bottom[-1 - QZI_AHEAD / 2].slot);
  if (QZI_UNLIKELY(((uintptr_t)far | (uintptr_t)near) & 3)) return; /* tasks, or gone */
  qzi_ahead_new(far);
  if (qzi_publishing() && near->pub.record) __builtin_prefetch(&near->pub.record->word, 1);
}

#pragma GCC visibility pop
#endif
