/* A loop, instruction by instruction: from the target of a jump back to that jump.
 *
 * Owns:    nothing; a function of bytes. x86-64 alone.
 * Must not: call it a loop where no way leads from the jump's target back to the jump.
 */
#ifndef QZI_LOOP_BODY_H
#define QZI_LOOP_BODY_H

#include "store_free_loop.h"
#include "sampler/machine_code/x86_decode.h"

#define LOOP_MOST 128 /* bytes */

struct loop {
  uint64_t start, end;
  unsigned count;
  struct {
    uint64_t at;
    struct instruction its;
    int inside;
  } all[LOOP_MOST + 1]; /* inside: the loop's jump back can follow */
};

static inline int qzi_is_always_jump(const struct instruction *its) { return its->op == 0xeb || its->op == 0xe9; }

/* The smallest loop around the instruction at `seen`: from there on to the jump back that closes it. 0: there is none.
 */
int qzi_loop_find(const struct qzi_code *code, uint64_t seen, struct loop *loop);

/* Whether the instruction number k jumps on inside the loop, and not back to its start. */
int qzi_loop_jumps_inside(const struct loop *loop, unsigned k, uint64_t *target);

#endif
