/* What snapshots see of synchronization objects, both those of the session and others. */
#ifndef QZI_SYNC_OBJECTS_H
#define QZI_SYNC_OBJECTS_H

#include "snapshot.h"

/* What is remembered about an object, reset for the current snapshot. */
static inline struct qzi_object_memo *qzi_object_in_round(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_object_memo *memo = &sampler->objects[index];
  if (memo->round != sampler->round) memo->spinners = memo->woken = 0;
  memo->round = sampler->round;
  return memo;
}

/* Records that an object outside the session had that many waiters in the snapshot just added; *stats_plus_1: index + 1
 * of its statistics, 0: none yet. */
void qzi_object_seen(struct qzi_sampler *sampler, uint32_t entity, uint32_t *stats_plus_1, uint32_t waiters,
                     uint64_t ns);
/* The same for all objects that only the sampler knows, once for each snapshot (profile/external_objects.h). */
void qzi_externals_seen(struct qzi_sampler *sampler, uint64_t ns);
/* Part of qzi_sampler_base. */
int qzi_objects_base(struct qzi_sampler *sampler);

#endif
