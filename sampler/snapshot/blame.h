/* Blame: waiting time is charged to the holder of the lock (Tallent, Mellor-Crummey, Porterfield 2010): struct
 * qz_blame.
 *
 * Owns:    the section BLAME of the profile.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_BLAME_H
#define QZI_BLAME_H

#include "snapshot.h"

/* Charges ns of waiting for `object` (entity) to a call path and thread (0, 0: unknown). If the table is full, to the
 * object only. */
void qzi_blame(struct qzi_sampler *sampler, uint32_t object, uint32_t stack, uint32_t thread, uint64_t ns);
/* Implements `blame` of struct qzi_threading for kernel threads: charges in equal parts all threads that have the lock
 * on their stacks. */
int qzi_blame_holders(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns);
/* The same for the thread package, which counts the readers of a lock but does not know them: charges in equal parts
 * threads that have the lock on the stack and do not wait for it. The shares of readers not found among the threads
 * that can be examined in time are charged to the object only. */
int qzi_blame_readers(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns);

#endif
