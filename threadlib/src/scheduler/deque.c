/* Deques: their memory, and taking threads and tasks out among entries that are called in place and others that have
 * left.
 *
 * Owns:    the memory of deques; the top; entries that have left (QZI_GONE_TASK, QZI_GONE_THREAD).
 * Writer:  the holder of the biased lock. Processors that look for work may still read the memory that a deque had
 *          before it grew, so that it remains mapped: together no more than the new memory.
 * Must not: use malloc (the program's own allocator could call the package). Take a task that is called in place: a
 * thief closes the deque and executes a barrier before it looks at `frame`; the owner sets `frame`, then looks whether
 * the deque is open (thread/fork_join.c): at least one of the two sees the other.
 */
#define _GNU_SOURCE
#include "deque.h"

#include <sys/mman.h>
#include "threadlib/src/base/die.h"

#define FIRST (QZI_TASK_ROOM + 1) /* initial number of entries */

/* Maps memory for the entries, and one before them, which is not a task. */
static struct qzi_entry *entries(size_t capacity) {
  struct qzi_entry *memory =
    mmap(NULL, (capacity + 1) * sizeof *memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) qzi_die("no memory for a queue of %zu ready threads; raise the limit of memory", capacity);
  memory->capacity = capacity;
  return memory + 1;
}

void qzi_deque_make(struct qzi_deque *deque, uint32_t room) {
  struct qzi_entry *base = entries(FIRST);
  *deque =
    (struct qzi_deque){.bottom = base, .low = base, .top = base, .base = base, .end = base + FIRST, .limit = base};
  deque->room = room;
}

/* Moves all entries down or up by `distance`; from now on the deque's memory begins at `base`. */
static void moved(struct qzi_deque *deque, struct qzi_entry *base, ptrdiff_t distance) {
  ptrdiff_t limit = deque->limit - deque->base + distance;
  struct qzi_entry *top = base + (QZI_GET(deque->top) - deque->base + distance);
  struct qzi_entry *bottom = base + (QZI_GET(deque->bottom) - deque->base + distance);
  qzi_deque_limit(deque, base + (limit > 0 ? limit : 0));
  __atomic_store_n(&deque->base, base, __ATOMIC_RELEASE);
  QZI_SET(deque->top, top);
  QZI_SET(deque->low, top);
  __atomic_store_n(&deque->bottom, bottom, __ATOMIC_RELEASE);
}

static void copy(struct qzi_entry *to, struct qzi_entry *from, size_t count) {
  for (size_t k = 0; k < count; k++) {
    struct qzi_thread *slot = QZI_GET(from[k].slot);
    if (qzi_is_task(slot)) {
      qzi_task_copy(&to[k], &from[k]);
      to[k].sp = from[k].sp;
      uintptr_t frame = QZI_GET(from[k].frame);
      QZI_SET(from[k].frame, 0);
      QZI_SET(to[k].frame, frame);
    }
    QZI_SET(to[k].slot, slot);
  }
}

void qzi_deque_grow(struct qzi_deque *deque) {
  struct qzi_entry *top = QZI_GET(deque->top), *base = deque->base;
  size_t count = (size_t)(QZI_GET(deque->bottom) - top), capacity = (size_t)(deque->end - base);
  if (count > capacity / 2) {
    capacity *= 2;
    base = entries(capacity);
    deque->end = base + capacity;
  }
  copy(base, top, count);
  moved(deque, base, deque->base - top);
}

uint32_t qzi_deque_waiting(const struct qzi_deque *deque, const struct qzi_entry *below, uint32_t most,
                           uint32_t *tasks) {
  const struct qzi_entry *base = __atomic_load_n(&deque->base, __ATOMIC_ACQUIRE);
  const struct qzi_entry *top = __atomic_load_n(&deque->top, __ATOMIC_ACQUIRE);
  const struct qzi_entry *bottom = __atomic_load_n(&deque->bottom, __ATOMIC_ACQUIRE);
  size_t bytes = base[-1].capacity * sizeof *base;
  if ((uintptr_t)top - (uintptr_t)base > bytes || (uintptr_t)bottom - (uintptr_t)base > bytes) {
    *tasks = 0;
    return most;
  }
  if (!below || below > bottom) below = bottom;
  uint32_t count = 0;
  *tasks = 0;
  for (const struct qzi_entry *entry = top; entry < below && count < most; entry++) {
    const struct qzi_thread *slot = QZI_GET(entry->slot);
    bool task = qzi_is_task(slot);
    if (qzi_is_gone(slot) || (task && QZI_GET(entry->frame))) continue;
    count++;
    *tasks += task;
  }
  return count;
}

/* The deque is empty, or its youngest entries have left: removes their places. */
__attribute__((noinline)) struct qzi_entry *qzi_deque_below_gone(struct qzi_deque *deque) {
  struct qzi_entry *entry = QZI_GET(deque->bottom), *top = QZI_GET(deque->top);
  for (; entry != top; qzi_deque_taken(deque, entry)) {
    struct qzi_thread *slot = QZI_GET((--entry)->slot);
    if (!qzi_is_gone(slot)) return entry;
    if (slot == QZI_GONE_TASK) {
      deque->gone--;
      if (deque->limit != deque->base) qzi_deque_limit(deque, deque->limit - 1);
    }
  }
  moved(deque, deque->base, deque->base - top); /* it begins at the base again */
  return NULL;
}

/* Moves the top above the entries that have left. Returns the new top. */
static struct qzi_entry *above_gone(struct qzi_deque *deque, struct qzi_entry *top, struct qzi_entry *bottom) {
  for (; top < bottom; top++) {
    const struct qzi_thread *slot = QZI_GET(top->slot);
    if (!qzi_is_gone(slot)) break;
    if (slot == QZI_GONE_TASK) deque->gone--;
  }
  QZI_SET(deque->top, top);
  return top;
}

static inline void ahead(const struct qzi_entry *entry, const struct qzi_entry *bottom) {
  if (bottom - entry <= QZI_AHEAD * 2) return;
  const struct qzi_thread *far = QZI_GET(entry[QZI_AHEAD * 2].slot);
  if ((uintptr_t)far & 3) return; /* a task, or gone */
  __builtin_prefetch(far, 1);
  if (qzi_publishing()) __builtin_prefetch(&far->pub, 1);
}

struct qzi_entry *qzi_deque_leaves(struct qzi_deque *deque, struct qzi_thread **slot) {
  struct qzi_entry *top = QZI_GET(deque->top);
  struct qzi_entry *bottom = __atomic_load_n(&deque->bottom, __ATOMIC_ACQUIRE); /* tasks are put in without the lock */
  if (QZI_UNLIKELY(bottom != top && qzi_is_gone(QZI_GET(top->slot)))) top = above_gone(deque, top, bottom);
  for (struct qzi_entry *entry = top; entry < bottom; entry++) {
    struct qzi_thread *thread = QZI_GET(entry->slot);
    if (qzi_is_gone(thread)) continue;
    bool task = qzi_is_task(thread);
    if (task) {
      if (__atomic_load_n(&entry->frame, __ATOMIC_ACQUIRE)) continue;
      /* The call may have ended since `bottom` was read, and another task may be in its place. */
      bottom = __atomic_load_n(&deque->bottom, __ATOMIC_ACQUIRE);
      if (entry >= bottom) break;
      thread = QZI_GET(entry->slot);
    }
    ahead(entry, bottom);
    /* Also below the top, where no task may be: the owner looks at the entry below the bottom of an empty deque. */
    QZI_SET(entry->slot, task ? QZI_GONE_TASK : QZI_GONE_THREAD);
    if (entry == top)
      QZI_SET(deque->top, top + 1);
    else if (task)
      deque->gone++;
    *slot = thread;
    return entry;
  }
  return NULL;
}

uint32_t qzi_deque_tasks_leave(struct qzi_deque *deque, struct qzi_entry *to, uint32_t most) {
  struct qzi_entry *top = QZI_GET(deque->top);
  uint32_t n = 0;
  for (; n < most && &top[n] < __atomic_load_n(&deque->bottom, __ATOMIC_ACQUIRE); n++) {
    if (__atomic_load_n(&top[n].frame, __ATOMIC_ACQUIRE)) break;
    if (&top[n] >= __atomic_load_n(&deque->bottom, __ATOMIC_ACQUIRE)) break; /* as in qzi_deque_leaves */
    struct qzi_thread *slot = QZI_GET(top[n].slot);
    if (!qzi_is_task(slot)) break;
    qzi_task_copy(&to[n], &top[n]);
    QZI_SET(to[n].slot, slot);
  }
  if (n) {
    QZI_SET(top[n - 1].slot, QZI_GONE_TASK); /* nobody looks at those below it */
    QZI_SET(deque->top, top + n);
  }
  return n;
}
