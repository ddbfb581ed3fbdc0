/* What is known of a procedure's frame at one of its instructions, and what an instruction makes of it.
 *
 * Owns:    nothing; functions of values. x86-64.
 *
 * Registers hold addresses of the frame in terms of the caller's stack pointer (CFA), or, where the code has aligned
 * the stack pointer to a power of two, in terms of what that became then.
 */
#ifndef QZI_FRAME_STATE_H
#define QZI_FRAME_STATE_H

#include "frame_rules.h"
#include "x86_decode.h"

struct qzi_frame_state {
  int32_t below[16];        /* of each general register: how far its value lies below the CFA, or the aligned pointer */
  uint16_t of_cfa, aligned; /* registers of which that is known (by number): the one, or the other */
  uint8_t fp_callers;       /* 1: the frame pointer is still that of the caller */
  uint8_t fp_saved;         /* 1: it lies fp_below below the CFA; 2: below the aligned pointer */
  uint8_t cfa_saved;        /* 1: so far below the aligned pointer lies an address that is cfa_more below the CFA */
  uint8_t unused;
  int32_t fp_below, cfa_below, cfa_more;
};

/* At the procedure's entry. */
void qzi_frame_state_begin(struct qzi_frame_state *state);
/* Changes it to what holds behind the instruction. */
void qzi_frame_state_after(struct qzi_frame_state *state, const struct instruction *its);
/* How far the stack pointer lies below the CFA; -1: not known. */
int32_t qzi_frame_state_depth(const struct qzi_frame_state *state);
/* Sets all but the rule's offset and `guessed`. */
void qzi_frame_state_rule(const struct qzi_frame_state *state, struct qzi_frame_rule *rule);

#endif
