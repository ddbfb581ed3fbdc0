/* The memory of a ring of ready threads.
 *
 * Owns:    the memory of rings.
 * Writer:  the owner, under its biased lock: no thief accesses the ring then, so the old memory can be unmapped at
 *          once.
 * Must not: use malloc (the program's own allocator could call the package).
 */
#define _GNU_SOURCE
#include "processor.h"

#include <sys/mman.h>

#define FIRST (QZI_TASK_ROOM + 1) /* initial number of slots */

static size_t bytes_of(uint32_t capacity, bool tasks) {
  return capacity * (sizeof(struct qzi_thread *) + (tasks ? sizeof(struct qzi_task) : 0));
}

/* Maps memory for the slots, followed by the tasks. */
static struct qzi_thread **slots(uint32_t capacity, bool tasks) {
  void *memory = mmap(NULL, bytes_of(capacity, tasks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) qzi_die("no memory for a queue of %u ready threads; raise the limit of memory", capacity);
  return memory;
}

static void use(struct qzi_ring *ring, struct qzi_thread **slot, uint32_t capacity, bool tasks) {
  ring->slot = slot;
  ring->task = tasks ? (struct qzi_task *)(slot + capacity) : NULL;
  ring->mask = capacity - 1;
}

void qzi_ring_make(struct qzi_ring *ring, bool tasks) {
  ring->top = ring->bottom = ring->low = 0;
  use(ring, slots(FIRST, tasks), FIRST, tasks);
}

void qzi_ring_grow(struct qzi_ring *ring) {
  struct qzi_ring old = {.slot = ring->slot, .task = ring->task, .mask = ring->mask};
  bool tasks = old.task != NULL;
  uint32_t capacity = (old.mask + 1) * 2;
  use(ring, slots(capacity, tasks), capacity, tasks);
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  for (uint32_t k = top; k != bottom; k++) {
    ring->slot[k & ring->mask] = old.slot[k & old.mask];
    if (tasks) ring->task[k & ring->mask] = old.task[k & old.mask];
  }
  munmap(old.slot, bytes_of(old.mask + 1, tasks));
}
