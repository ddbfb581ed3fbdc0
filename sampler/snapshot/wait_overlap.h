/* Threads that ran while others waited and processors were idle. */
#ifndef QZI_WAIT_OVERLAP_H
#define QZI_WAIT_OVERLAP_H

#include "snapshot.h"

/* Charges the busy processors of this snapshot with `waiters` threads that waited for `object` (entity, 0: input or
 * output) during ns: struct qz_wait_overlap. Does nothing if all processors, or none, are busy. */
void qzi_wait_overlap(struct qzi_sampler *sampler, uint32_t object, uint32_t waiters, uint64_t ns);

#endif
