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

/* Records how many waiters each object that only the sampler knows had in the snapshot just added
 * (profile/external_objects.h). */
void qzi_externals_seen(struct qzi_sampler *sampler, uint64_t ns);
/* Part of qzi_sampler_base. */
int qzi_objects_base(struct qzi_sampler *sampler);

#endif
