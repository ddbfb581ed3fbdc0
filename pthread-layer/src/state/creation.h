/* Where threads were created, and futexes first waited for: what the sampler needs to find the callers.
 *
 * Owns:    the session's table of creations. Writer: creating threads, each an element of its own. Reader: the sampler.
 * Must not: allocate; read beyond the bounds of the creating thread's stack.
 */
#ifndef QZL_CREATION_H
#define QZL_CREATION_H

#include "thread.h"

/* `me` creates `child`, whose record is filled, from there on (a frame of the layer, below the caller's). Does nothing
 * where hooks say more, or where it is on a stack that is not the C library's. */
void qzl_creation_note(const struct qzl_thread *me, const struct qzl_thread *child, const struct qz_frame *from);
/* The same for the first wait for the futex with that record. */
void qzl_creation_futex(const struct qzl_thread *me, uint32_t index, const struct qz_frame *from);

#endif
