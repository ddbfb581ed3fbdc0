/* The memory of a ring of ready threads.
 *
 * Owns:    the memory of rings.
 * Writer:  the owner, under its biased lock: no thief accesses the ring then, so the old memory can be unmapped at
 *          once.
 * Must not: use malloc (the program's own allocator could call the package).
 */
#define _GNU_SOURCE
#include "ready_queue.h"

#include <sys/mman.h>
#include "threadlib/src/base/die.h"

#define FIRST 2048u /* initial number of slots */

static struct qzi_thread **slots(uint32_t capacity) {
  void *memory = mmap(NULL, capacity * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) qzi_die("no memory for a queue of %u ready threads; raise the limit of memory", capacity);
  return memory;
}

void qzi_ring_make(struct qzi_ring *ring) {
  ring->top = ring->bottom = 0;
  ring->slot = slots(FIRST);
  ring->mask = FIRST - 1;
}

void qzi_ring_grow(struct qzi_ring *ring) {
  struct qzi_thread **old = ring->slot;
  uint32_t mask = ring->mask, capacity = (mask + 1) * 2;
  ring->slot = slots(capacity);
  ring->mask = capacity - 1;
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  for (uint32_t k = top; k != bottom; k++) ring->slot[k & ring->mask] = old[k & mask];
  munmap(old, (mask + 1) * sizeof(void *));
}
