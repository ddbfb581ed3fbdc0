/* See slices.h. */
#include "slices.h"

#include <stdlib.h>
#include <string.h>
#include "interner.h"
#include "sampler/util/lazy_memory.h"

#define GRAIN_NS      UINT64_C(1000000) /* the first grain, used when the table is full for the first time */
#define GRAIN_MOST_NS (UINT64_C(1) << 33)
#define GAP_NS        UINT64_C(1000000) /* if a thread was not seen for longer, another slice begins */

/* Of one thread. */
struct qzi_open_slice {
  uint32_t at;     /* index of its last slice; 0: none */
  uint64_t end_ns; /* time at which it was last seen */
};

int qzi_slices_open(struct qzi_slices *slices, struct qzi_file *file) {
  uint64_t capacity = file->head->sections[QZ_SECTION_SLICES].capacity;
  slices->open_bytes = file->head->sections[QZ_SECTION_ENTITIES].capacity * sizeof *slices->open;
  slices->open = qzi_lazy_memory(slices->open_bytes);
  slices->longest = calloc(capacity, sizeof *slices->longest);
  if (!slices->open || !slices->longest || qzi_file_room(file, QZ_SECTION_SLICES, 1)) return -1;
  file->slices[0] = (struct qz_slice){0};
  qzi_file_append(file, QZ_SECTION_SLICES, 1);
  slices->file = file;
  return 0;
}

void qzi_slices_close(struct qzi_slices *slices) {
  qzi_lazy_free(slices->open, slices->open_bytes);
  free(slices->longest);
  memset(slices, 0, sizeof *slices);
}

/* Joins a slice with the previous one of the same thread; the result has the state of the longest part. */
static void join(struct qzi_slices *slices, uint32_t to, const struct qz_slice *next, uint64_t longest_ns) {
  struct qz_slice *it = &slices->file->slices[to];
  it->ns += next->ns;
  if (longest_ns <= slices->longest[to]) return;
  slices->longest[to] = longest_ns;
  it->stack = next->stack;
  it->state = next->state;
  it->waiting = next->waiting;
}

/* One pass that joins slices shorter than the grain. Returns how many are left, at least one for each thread; *threads:
 * number of threads with slices. */
static uint64_t join_below(struct qzi_slices *slices, uint64_t count, uint64_t grain_ns, uint64_t *threads) {
  struct qz_slice *all = slices->file->slices;
  for (uint64_t k = 1; k < count; k++) slices->open[all[k].thread].at = 0;
  uint64_t kept = 1;
  *threads = 0;
  for (uint64_t k = 1; k < count; k++) {
    const struct qz_slice next = all[k];
    struct qzi_open_slice *open = &slices->open[next.thread];
    const struct qz_slice *last = &all[open->at];
    *threads += !open->at;
    if (open->at && (last->ns < grain_ns || next.ns < grain_ns) &&
        next.start_ns <= last->start_ns + last->ns + GAP_NS) {
      join(slices, open->at, &next, slices->longest[k]);
      continue;
    }
    all[kept] = next;
    slices->longest[kept] = slices->longest[k];
    open->at = (uint32_t)kept++;
  }
  return kept;
}

/* Makes room: joins slices until at least half of the entries that are not needed for one slice per thread are free;
 * sets `full` if too many threads have slices. */
static void thin(struct qzi_slices *slices) {
  struct qz_slice *all = slices->file->slices;
  uint64_t *count_at = &slices->file->head->sections[QZ_SECTION_SLICES].count, count = *count_at, threads = 0;
  uint64_t capacity = slices->file->head->sections[QZ_SECTION_SLICES].capacity, grain_ns = all[0].ns;
  do {
    grain_ns = grain_ns ? grain_ns * 2 : GRAIN_NS;
    count = join_below(slices, count, grain_ns, &threads);
    slices->full = threads > capacity / 4 * 3;
  } while (!slices->full && count > threads + (capacity - threads) / 2 && grain_ns < GRAIN_MOST_NS);
  slices->full |= count > capacity - capacity / 64;
  all[0].ns = grain_ns;
  __atomic_store_n(count_at, count, __ATOMIC_RELEASE);
}

void qzi_slice_add_slow(struct qzi_slices *slices, const struct qz_tuple *as, uint64_t end_ns, uint64_t ns) {
  struct qzi_file *file = slices->file;
  if (!as->thread || !ns) return;
  if (file->entities[as->thread].instances > 1) {
    file->slices[0].start_ns += ns;
    return;
  }
  struct qzi_open_slice *open = &slices->open[as->thread];
  struct qz_slice next = {.start_ns = end_ns > ns ? end_ns - ns : 0,
                          .ns = ns,
                          .thread = as->thread,
                          .stack = as->stack,
                          .state = as->state,
                          .waiting = as->waiting};
  if (open->at && next.start_ns < open->end_ns) next.start_ns = open->end_ns;
  int follows = open->at && next.start_ns <= open->end_ns + GAP_NS;
  struct qz_slice *last = &file->slices[open->at];
  open->end_ns = next.start_ns + ns;
  if (follows && last->stack == next.stack && last->state == next.state && last->waiting == next.waiting) {
    last->ns += ns;
    if (slices->longest[open->at] < last->ns) slices->longest[open->at] = last->ns;
    return;
  }
  if (follows && last->ns < file->slices[0].ns) {
    join(slices, open->at, &next, ns);
    return;
  }
  uint64_t count = qzi_file_count(file, QZ_SECTION_SLICES);
  if (count == file->head->sections[QZ_SECTION_SLICES].capacity && !slices->full) {
    thin(slices);
    count = qzi_file_count(file, QZ_SECTION_SLICES);
  }
  if (count == file->head->sections[QZ_SECTION_SLICES].capacity) {
    file->slices[0].start_ns += ns;
    return;
  }
  if (qzi_file_room(file, QZ_SECTION_SLICES, 1)) return; /* the disk is full, and recording ends */
  file->slices[count] = next;
  slices->longest[count] = ns;
  open->at = (uint32_t)count;
  qzi_file_append(file, QZ_SECTION_SLICES, 1);
}
