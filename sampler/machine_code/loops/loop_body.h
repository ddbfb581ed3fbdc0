/* A loop, instruction by instruction: from the target of a jump back to that jump.
 *
 * Owns:    nothing; a function of bytes. x86-64 alone.
 * Must not: return a loop if the jump can't be reached from its target.
 */
#ifndef QZI_LOOP_BODY_H
#define QZI_LOOP_BODY_H

#include "store_free_loop.h"
#include "sampler/machine_code/x86_decode.h"

#define LOOP_MOST 128 /* maximum size of a loop in bytes */

struct loop {
  uint64_t start, end;
  unsigned count;
  struct {
    uint64_t at;
    struct instruction its;
    int inside;
  } all[LOOP_MOST + 1]; /* inside: the loop's jump back can be reached from the instruction */
};

static inline int qzi_is_always_jump(const struct instruction *its) { return its->goes == QZI_GOES_TO; }

/* Finds the smallest loop around the instruction at `seen`: code that ends with a jump back to its beginning. Returns 0
 * if there is none. */
int qzi_loop_find(const struct qzi_code *code, uint64_t seen, struct loop *loop);

/* Whether instruction number k jumps to another place in the loop than its start; *target: where. */
int qzi_loop_jumps_inside(const struct loop *loop, unsigned k, uint64_t *target);

#endif
