/* What is known of a loop at an instruction of it, as it is followed from the first to the last (poll_loop.c), and how
 * ways part and meet where code is jumped over.
 *
 * Owns:    nothing. Writer and reader: who follows the loop. x86-64 alone.
 */
#ifndef QZI_LOOP_STATE_H
#define QZI_LOOP_STATE_H

#include "sampler/machine_code/x86_decode.h"
#include "poll_loop.h"

#define SLOTS_MOST 8 /* places in its stack frame that a loop may write */
#define JUMPS_MOST 6 /* forward, whose ends have not come yet */

enum value {
  FIXED,  /* as before the loop, or a constant */
  COUNT,  /* changed by the loop itself, by steps of a constant */
  POLLED, /* read from memory at a fixed place, or at one that was so read; or calculated from that alone */
  TIMED,  /* read from a clock, or calculated with that */
};
struct state {
  const struct qzi_callees *callees;
  enum value registers[REGISTERS];
  uint64_t zero; /* registers that hold 0 (BIT) */
  struct {
    struct memory at;
    enum value value;
  } slots[SLOTS_MOST]; /* stack slots that it writes */
  unsigned slots_count;
  enum value flags;
  int framed, polls;
  int clock;          /* it has read a clock, into memory of its own maybe */
  int depth;          /* of calls */
  int leaves;         /* a procedure gives its frame up: what was in it is not looked at any more */
  int alone;          /* what the frame has, and the loop does not write, others must write: nothing else ends it */
  enum value control; /* what decides whether the instruction is done at all */
};
/* Ways that have not come together yet: at `target`, what is known of the one that jumped there. */
struct jumps {
  unsigned count;
  int dead; /* the code here is reached by a jump alone */
  struct {
    uint64_t target;
    struct state known;
  } all[JUMPS_MOST];
};

/* Whether that is a place in the loop's own stack frame. */
int qzi_loop_state_owns(const struct state *state, const struct memory *at);
/* What is known of such a place; NULL: the loop does not write it. */
enum value *qzi_loop_state_slot(struct state *state, const struct memory *at);
/* From now on the loop writes it. 0: it is no such place, or there are too many. */
int qzi_loop_state_add(struct state *state, const struct memory *at, enum value value);

/* What is known where two ways meet, put together in `one`. What one of them alone has written in its frame nobody has
 * read on the other way. 0: they differ in more. */
int qzi_loop_state_join(struct state *one, const struct state *other);
/* The instruction jumps over what follows it, up to `target`. 0: too many do. */
int qzi_loop_state_parts(struct jumps *jumps, struct state *state, const struct instruction *its, uint64_t target);
/* Whoever jumped to `at` goes on there. 0: it cannot be determined what is known. */
int qzi_loop_state_arrives(struct jumps *jumps, struct state *state, uint64_t at);

#endif
