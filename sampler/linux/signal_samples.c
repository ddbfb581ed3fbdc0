/* Samples by signals. See signal_samples.h. */
#include "signal_samples.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "abi/hash.h"

#define BEHIND (QZ_SIGNAL_SLOTS / 2) /* an unfinished sample that is so far behind stays so: its thread has ended */

const struct qz_signal_ring *qzi_signal_ring_map(int fd) {
  struct stat state;
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &state) ||
      state.st_size < (off_t)sizeof(struct qz_signal_ring))
    return NULL;
  const struct qz_signal_ring *ring = mmap(NULL, sizeof *ring, PROT_READ, MAP_SHARED, fd, 0);
  if (ring == MAP_FAILED) return NULL;
  if (ring->magic == QZ_SIGNAL_MAGIC && ring->interval_ns) return ring;
  qzi_signal_ring_unmap(ring);
  return NULL;
}

void qzi_signal_ring_unmap(const struct qz_signal_ring *ring) {
  if (ring) munmap((void *)(uintptr_t)ring, sizeof *ring);
}

static void copy(const struct qz_signal_sample *from, struct qzi_sample *sample) {
  uint64_t bytes = from->bytes;
  memcpy(sample->general, from->general, sizeof sample->general);
  sample->at = (struct qzi_registers){.pc = from->pc, .sp = from->general[4], .fp = from->general[5], .fp_known = 1};
  sample->tid = from->tid;
  sample->cpu = from->cpu;
  sample->user = from->user != 0;
  sample->copy = (struct qzi_stack_copy){.address = from->general[4]};
  if (bytes && bytes <= sizeof from->stack) {
    memcpy(sample->bytes, from->stack, (size_t)bytes);
    sample->copy.bytes = bytes;
    sample->copy.data = sample->bytes;
  }
  sample->registers = 0;
  for (unsigned k = 0; k < 16; k++) sample->registers = (sample->registers ^ sample->general[k]) * QZ_HASH_FACTOR;
  sample->registers = (sample->registers ^ sample->at.pc) * QZ_HASH_FACTOR;
}

int qzi_signal_samples_next(const struct qz_signal_ring *ring, uint64_t *next, struct qzi_sample *sample) {
  uint64_t lost = 0;
  for (;;) {
    uint64_t count = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);
    if (*next >= count) return 0;
    if (count - *next > QZ_SIGNAL_SLOTS) {
      lost += count - QZ_SIGNAL_SLOTS - *next;
      *next = count - QZ_SIGNAL_SLOTS;
    }
    const struct qz_signal_sample *slot = &ring->slots[*next % QZ_SIGNAL_SLOTS];
    uint64_t whole = 2 * *next + 2, number = __atomic_load_n(&slot->number, __ATOMIC_ACQUIRE);
    if (number < whole && count - *next < BEHIND) return 0;
    if (number == whole) {
      copy(slot, sample);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      number = __atomic_load_n(&slot->number, __ATOMIC_RELAXED);
    }
    ++*next;
    if (number == whole && sample->at.pc) {
      sample->count = 1 + lost;
      return 1;
    }
    lost++;
  }
}
