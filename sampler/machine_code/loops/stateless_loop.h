/* Whether code is a loop that carries no values from one round to the next: everything that a round computes, also in
 * inner loops and in procedures that it calls, it computes from memory that it does not write. So after a completed
 * round only other threads can end the loop: for example, a thread that adds up the counters of all threads until there
 * are enough waits for them.
 *
 * The analysis does not show that rounds are repeated: code that reads something, and tries again in the rare case that
 * it has changed in between, looks the same. waits/repeating_loop.h adds the evidence from samples.
 *
 * Owns:    nothing; a function of bytes. x86-64; on other machines no loop is recognized.
 * Must not: accept a loop that stores anywhere but in its own stack frame, reads a clock, or does anything unknown.
 *
 * Liveness of registers and stack slots as in Aho, Lam, Sethi and Ullman, Compilers (2nd edition), section 9.2.5.
 */
#ifndef QZI_STATELESS_LOOP_H
#define QZI_STATELESS_LOOP_H

#include "poll_loop.h"

#define QZI_STATELESS_SLOTS 12u
#define QZI_STATELESS_BYTES 512u /* maximum size of a loop */

struct qzi_stateless {
  uint64_t start;  /* address of its first instruction; 0: not found */
  uint64_t writes; /* registers (BIT, x86_decode.h) that the loop, or a procedure that it calls, changes */
  unsigned slots;  /* number of slots in its frame that it writes, 8 bytes each */
  struct {
    unsigned base;
    int64_t disp;
  } slot[QZI_STATELESS_SLOTS];
};
/* Finds the innermost stateless loop around the instruction at `seen`. framed and callees: as for qzi_poll_loop. */
struct qzi_stateless qzi_stateless_loop(const struct qzi_code *code, uint64_t seen, int framed,
                                        const struct qzi_callees *callees);

#endif
