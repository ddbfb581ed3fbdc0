/* Threads that ran while others waited and processors were idle. See snapshot.h.
 *
 * Tuples contain who waited and who ran at equal b and s, but not whether at the same time: two phases of a program
 * often have the same b. So the pairs are recorded when they are seen together.
 */
#include "wait_overlap.h"

/* Minimum number of processors that are charged for one object in one snapshot; it is limited because a snapshot with
 * many waited-for objects on many processors must remain short. */
#define CHOSEN 4

static void add(struct qzi_sampler *sampler, uint32_t object, uint32_t stack, uint32_t thread, uint64_t ns,
                uint64_t waiters_ns) {
  struct qzi_file *file = sampler->file;
  for (;;) {
    uint32_t hash = qzi_hash((uint64_t)stack << 32 | thread, object);
    QZI_TABLE_EACH(&sampler->wait_overlap, hash, at) {
      struct qz_wait_overlap *found = &file->wait_overlap[at - 1];
      if (found->object != object || found->stack != stack || found->thread != thread) continue;
      found->count += found->count < UINT32_MAX;
      found->ns += ns;
      found->waiters_ns += waiters_ns;
      return;
    }
    uint64_t used = qzi_file_count(file, QZ_SECTION_WAIT_OVERLAP);
    uint64_t capacity = file->head->sections[QZ_SECTION_WAIT_OVERLAP].capacity;
    int rest = stack == 0 && thread == 0;
    if (used < (rest ? capacity : capacity - capacity / 4) && !qzi_file_room(file, QZ_SECTION_WAIT_OVERLAP, 1) &&
        !qzi_table_add(&sampler->wait_overlap, hash, (uint32_t)used + 1)) {
      file->wait_overlap[used] = (struct qz_wait_overlap){
        .object = object, .stack = stack, .thread = thread, .count = 1, .ns = ns, .waiters_ns = waiters_ns};
      qzi_file_append(file, QZ_SECTION_WAIT_OVERLAP, 1);
      return;
    }
    if (rest) return;
    stack = thread = 0; /* no room: charge the object only */
  }
}

static uint32_t next_random(struct qzi_sampler *sampler) {
  uint32_t x = sampler->random ? sampler->random : 1;
  x ^= x << 13;
  x ^= x >> 17;
  return sampler->random = x ^ x << 5;
}

void qzi_wait_overlap(struct qzi_sampler *sampler, uint32_t object, uint32_t waiters, uint64_t ns) {
  uint32_t processors = sampler->view->processors, busy = sampler->busy;
  if (busy == 0 || busy >= processors) return;
  /* Each busy processor is chosen with probability 1/step, and then stands for `step` of them. */
  uint32_t step = (busy + CHOSEN - 1) / CHOSEN, skip = step > 1 ? next_random(sampler) % step : 0;
  uint64_t share = ns * step / busy;
  for (uint32_t p = 0; p < processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    if (visit->state != QZ_STATE_USEFUL && visit->state != QZ_STATE_OVERHEAD) continue;
    if (skip) {
      skip--;
      continue;
    }
    skip = step - 1;
    add(sampler, object, visit->node, visit->entity, share, waiters * share);
  }
}
