/* State of the analysis of a loop at one of its instructions, as it is followed from the first to the last
 * (poll_loop.c), and how states split and merge where code is jumped over.
 *
 * Owns:    nothing. Writer and reader: the caller that follows the loop. x86-64 only.
 */
#ifndef QZI_LOOP_STATE_H
#define QZI_LOOP_STATE_H

#include "callees.h"
#include "sampler/machine_code/x86_decode.h"

#define SLOTS_MOST 8 /* places in its stack frame that a loop may write */
#define JUMPS_MOST 6 /* forward jumps whose targets were not reached yet */

enum value {
  FIXED,  /* unchanged by the loop, or constant */
  COUNT,  /* changed by the loop itself, in steps of a constant */
  POLLED, /* read from memory at a fixed address, or at one read so; or computed only from that */
  TIMED,  /* read from a clock, or computed from that */
};
struct state {
  const struct qzi_callees *callees;
  enum value registers[REGISTERS];
  uint64_t zero; /* registers (BIT) that contain 0 */
  struct {
    struct memory at;
    enum value value;
  } slots[SLOTS_MOST]; /* stack slots that the loop writes */
  unsigned slots_count;
  enum value flags;
  int framed, polls;
  int clock;  /* 1: it has read a clock, whose result may be in memory of its own */
  int depth;  /* depth of calls */
  int leaves; /* 1: the procedure is releasing its frame, whose contents are no longer tracked */
  int alone;  /* 1: assume that frame slots which the loop does not write are written by others; only they can end it */
  enum value control; /* class of the value that decides whether the instruction is executed */
};
/* Forward jumps whose targets were not reached yet, with the state at the jump. */
struct jumps {
  unsigned count;
  int dead; /* 1: the code here can be reached only by a jump */
  struct {
    uint64_t target;
    struct state known;
  } all[JUMPS_MOST];
};

/* Whether the address is in the loop's own stack frame. */
int qzi_loop_state_owns(const struct state *state, const struct memory *at);
/* Class of the value in that slot; NULL: the loop does not write it. */
enum value *qzi_loop_state_slot(struct state *state, const struct memory *at);
/* Records that the loop writes that slot. Returns 0 if the address is not in its frame, or if there are too many
 * slots. */
int qzi_loop_state_add(struct state *state, const struct memory *at, enum value value);

/* Merges two states where ways meet, into `one`. A slot written on only one of the ways is kept, because the other way
 * has not read it. Returns 0 if they differ in more. */
int qzi_loop_state_join(struct state *one, const struct state *other);
/* Records a jump over the following code to `target`. Returns 0 if there are too many. */
int qzi_loop_state_parts(struct jumps *jumps, struct state *state, const struct instruction *its, uint64_t target);
/* Merges the states of all jumps to `at`. Returns 0 if they can't be merged. */
int qzi_loop_state_arrives(struct jumps *jumps, struct state *state, uint64_t at);

#endif
