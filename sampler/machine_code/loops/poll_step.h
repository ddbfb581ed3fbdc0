/* Effect of one instruction of a loop that may poll on the state of registers, stack slots and flags (loop_state.h);
 * procedures that the loop calls are followed, too.
 *
 * Owns:    nothing. Used by poll_loop.c. x86-64 only.
 * Must not: accept an instruction whose effect it does not know.
 */
#ifndef QZI_POLL_STEP_H
#define QZI_POLL_STEP_H

#include "loop_state.h"

/* Marks what the instruction writes as COUNT, since it may change from round to round, until the analysis finds another
 * source of the value. To be called for all instructions of the loop before the first step. Returns 0 if a loop that
 * polls can't contain the instruction. */
int qzi_poll_step_prepare(struct state *state, const struct instruction *its);

/* Tracks one instruction, which ends at `end`. Returns 0 if a loop that polls can't contain it. */
int qzi_poll_step(struct state *state, const struct instruction *its, uint64_t end);

#endif
