/* Whether code is a loop that carries nothing from one round to the next: what its rounds compute, in loops inside it
 * and procedures that it calls too, they compute again from memory that it does not write. So once it has gone round,
 * only others can end it: a thread that adds up the counters of all threads until there are enough waits for them.
 *
 * That it goes round is another matter: code that reads something, and tries again in the rare case that it changed
 * meanwhile, looks the same. waits/repeating_loop.h has the evidence from samples.
 *
 * Owns:    nothing; a function of bytes. x86-64; elsewhere no loop is recognized.
 * Must not: take a loop with a store, but in its own stack frame, a look at a clock, or anything that it does not know
 * for one.
 *
 * Liveness of registers and stack slots as in Aho, Lam, Sethi and Ullman, Compilers (2nd edition), section 9.2.5.
 */
#ifndef QZI_STATELESS_LOOP_H
#define QZI_STATELESS_LOOP_H

#include "poll_loop.h"

#define QZI_STATELESS_SLOTS 12u
#define QZI_STATELESS_BYTES 512u /* a loop may have */

struct qzi_stateless {
  uint64_t start;  /* address of its first instruction; 0: it is none */
  uint64_t writes; /* registers (BIT, x86_decode.h) that it changes, or a procedure that it calls */
  unsigned slots;  /* places in its frame that it writes, 8 bytes each */
  struct {
    unsigned base;
    int64_t disp;
  } slot[QZI_STATELESS_SLOTS];
};
/* The innermost such loop around the instruction at `seen`. framed and callees: as qzi_poll_loop. */
struct qzi_stateless qzi_stateless_loop(const struct qzi_code *code, uint64_t seen, int framed,
                                        const struct qzi_callees *callees);

#endif
