/* The ring of samples that a program takes of itself: order, overwritten and unfinished samples, foreign files. */
#include "sampler/linux/signal_samples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sampler/linux/perf_samples.h"
#include "test/support/check.h"

static struct qz_signal_ring *ring;

static void begin(uint64_t n) { ring->slots[n % QZ_SIGNAL_SLOTS].number = 2 * n + 1; }
static void take(uint64_t n) {
  struct qz_signal_sample *slot = &ring->slots[n % QZ_SIGNAL_SLOTS];
  slot->pc = 1000 + n;
  slot->tid = (uint32_t)n;
  slot->user = n & 1;
  slot->bytes = 16;
  slot->general[4] = 0x7000 + n;
  slot->stack[15] = (unsigned char)n;
  slot->number = 2 * n + 2;
  if (ring->count < n + 1) ring->count = n + 1;
}

static int file_of(size_t bytes, int seals) {
  int fd = memfd_create("quartz-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  CHECK(fd >= 0 && !ftruncate(fd, (off_t)bytes));
  if (seals) CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
  return fd;
}

static void maps_only_rings(void) {
  CHECK(!qzi_signal_ring_map(-1));
  CHECK(!qzi_signal_ring_map(file_of(sizeof *ring, 0)));
  CHECK(!qzi_signal_ring_map(file_of(sizeof *ring - 1, 1)));
  CHECK(!qzi_signal_ring_map(file_of(sizeof *ring, 1))); /* no magic */
  int fd = file_of(sizeof *ring, 1);
  struct qz_signal_ring head = {.magic = QZ_SIGNAL_MAGIC, .interval_ns = 1};
  CHECK(write(fd, &head, 64) == 64);
  const struct qz_signal_ring *mapped = qzi_signal_ring_map(fd);
  CHECK(mapped && mapped->interval_ns == 1);
  qzi_signal_ring_unmap(mapped);
}

int main(void) {
  static struct qzi_sample sample;
  uint64_t next = 0;
  maps_only_rings();
  ring = calloc(1, sizeof *ring);
  CHECK(ring != NULL);
  CHECK(!qzi_signal_samples_next(ring, &next, &sample));

  take(0);
  take(1);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.at.pc == 1000 && !sample.user && sample.count == 1);
  CHECK(sample.at.sp == 0x7000 && sample.copy.address == 0x7000 && sample.copy.bytes == 16);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.tid == 1 && sample.user && sample.bytes[15] == 1);
  CHECK(!qzi_signal_samples_next(ring, &next, &sample));

  /* One that is being written is awaited; those after it, too. */
  take(3);
  begin(2);
  CHECK(!qzi_signal_samples_next(ring, &next, &sample) && next == 2);
  take(2);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.tid == 2);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.tid == 3);

  /* One whose thread has ended meanwhile is skipped. */
  begin(4);
  for (uint64_t n = 5; n < 4 + QZ_SIGNAL_SLOTS / 2; n++) take(n);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.tid == 5 && sample.count == 2);

  /* Overwritten ones are counted with the next one. */
  while (qzi_signal_samples_next(ring, &next, &sample)) {}
  uint64_t from = next;
  for (uint64_t n = from; n < from + QZ_SIGNAL_SLOTS + 10; n++) take(n);
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && sample.tid == from + 10 && sample.count == 11);

  /* Sizes are not trusted. */
  while (qzi_signal_samples_next(ring, &next, &sample)) {}
  take(next);
  ring->slots[next % QZ_SIGNAL_SLOTS].bytes = QZ_SIGNAL_STACK + 1;
  CHECK(qzi_signal_samples_next(ring, &next, &sample) && !sample.copy.bytes);
  free(ring);
  return 0;
}
