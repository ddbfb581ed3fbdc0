/* What one instruction of a loop does to what is known of registers, stack slots and flags (loop_state.h), where it may
 * stand in a loop that polls; procedures that it calls are followed, too.
 *
 * Owns:    nothing. Used by poll_loop.c. x86-64 alone.
 * Must not: pass an instruction whose effect it does not know.
 */
#ifndef QZI_POLL_STEP_H
#define QZI_POLL_STEP_H

#include "loop_state.h"

/* What the instruction writes is no longer as it was before the loop: it counts, until something else is seen of it.
 * To be called for all of the loop before the first step. 0: no loop that polls writes that. */
int qzi_poll_step_prepare(struct state *state, const struct instruction *its);

/* One instruction, which ends at `end`. 0: not one of a loop that polls. */
int qzi_poll_step(struct state *state, const struct instruction *its, uint64_t end);

#endif
