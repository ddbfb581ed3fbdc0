/* State of a procedure's frame at one of its instructions, and how an instruction changes it.
 *
 * Owns:    nothing; functions of values. x86-64.
 *
 * Registers that contain addresses in the frame are described relative to the caller's stack pointer (CFA), or, after
 * the code has aligned the stack pointer to a power of two, relative to the aligned pointer.
 */
#ifndef QZI_FRAME_STATE_H
#define QZI_FRAME_STATE_H

#include "frame_rule.h"
#include "x86_decode.h"

struct qzi_frame_state {
  int32_t below[16];        /* for each general register: how far its value is below the CFA or the aligned pointer */
  uint16_t of_cfa, aligned; /* registers (bits by number) whose `below` is valid, relative to the CFA or to the
                               aligned pointer */
  uint8_t fp_callers;       /* 1: the frame pointer still has the caller's value */
  uint8_t fp_saved;  /* 1: the caller's frame pointer is stored fp_below below the CFA; 2: below the aligned pointer */
  uint8_t cfa_saved; /* 1: cfa_below below the aligned pointer, an address is stored that is cfa_more below the CFA */
  uint8_t unused;
  int32_t fp_below, cfa_below, cfa_more;
};

/* Sets the state at the procedure's entry. */
void qzi_frame_state_begin(struct qzi_frame_state *state);
/* Changes the state to that after the instruction. */
void qzi_frame_state_after(struct qzi_frame_state *state, const struct instruction *its);
/* How far the stack pointer is below the CFA in bytes; -1: unknown. */
int32_t qzi_frame_state_depth(const struct qzi_frame_state *state);
/* Sets all members except `offset` and `guessed`. */
void qzi_frame_state_rule(const struct qzi_frame_state *state, struct qzi_frame_rule *rule);

#endif
