/* Growth of a ring of ready threads.
 *
 * Owns:    the memory of rings.
 * Writer:  the owner, under its biased lock: thieves are out, so the old memory can go at once.
 * Must not: use malloc (it could come back into the package through a program's own allocator).
 */
#define _GNU_SOURCE
#include "processor.h"

#include <sys/mman.h>

void qzi_ring_grow(struct qzi_ring *ring) {
  uint32_t old = ring->slot ? ring->mask + 1 : 0, capacity = old ? old * 2 : 512;
  struct qzi_thread **slot =
    mmap(NULL, capacity * sizeof *slot, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (slot == MAP_FAILED) qzi_die("no memory for a queue of %u ready threads; raise the limit of memory", capacity);
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  for (uint32_t k = top; k != bottom; k++) slot[k & (capacity - 1)] = ring->slot[k & ring->mask];
  if (old) munmap(ring->slot, old * sizeof *slot);
  ring->slot = slot;
  ring->mask = capacity - 1;
}
