/* Whether code is a loop that polls: in each round it reads memory that it does not change, decides by that value, or
 * by it and a clock, whether to continue, and otherwise only counts, and computes with what it read. Procedures that it
 * calls count as its own code. A loop that reads only a clock does not poll, because no other thread can end it; it is
 * work, which can be made shorter.
 *
 * Owns:    nothing; a function of bytes. x86-64; on aarch64 by arm_poll_loop.h, which follows no calls; on other
 * machines no loop is recognized.
 * Must not: mistake work for polling: a loop with anything unknown does not poll. A loop that compares a count with
 * what it reads, reads at an address that depends on a count, computes with values that it carries from round to round,
 * or calls a procedure that does so, is work.
 */
#ifndef QZI_POLL_LOOP_H
#define QZI_POLL_LOOP_H

#include "callees.h"

/* Address of the first instruction of the loop around the instruction at `seen`, if the loop polls; else 0. framed: the
 * frame pointer points into the thread's stack, so that memory there is the thread's own. callees NULL: calls are not
 * followed, so a loop with a call does not poll. */
uint64_t qzi_poll_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees);

#endif
