/* The waiters' time is the holder's (Tallent, Mellor-Crummey, Porterfield 2010): struct qz_blame.
 *
 * Owns:    the section BLAME of the profile.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_BLAME_H
#define QZI_BLAME_H

#include "snapshot.h"

/* Charges ns of waiting for `object` (entity) to a path (0, 0: to nobody in particular). Where the table is full, to
 * the object alone. */
void qzi_blame(struct qzi_sampler *sampler, uint32_t object, uint32_t stack, uint32_t thread, uint64_t ns);
/* The `blame` of struct qzi_threading. Kernel threads: in equal parts to all that have the lock on their stacks. */
int qzi_blame_holders(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns);
/* Thread package, which counts the readers of a lock but does not know them: in equal parts to whoever has the lock on
 * the stack and does not wait for it; of those not found among the threads that there is time to look at, to the object
 * alone. */
int qzi_blame_readers(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns);

#endif
