/* Whether code is a loop that polls: each time round it looks at memory that it does not change, decides by that, or by
 * that and a clock, whether to go on, and does nothing else but count, and calculate with what it saw. Procedures that
 * it calls count as its own code. One that looks at nothing but a clock waits for nobody: no other thread can end it,
 * and whoever makes it shorter gains its time. It is at work.
 *
 * Owns:    nothing; a function of bytes. x86-64; on aarch64 by arm_poll_loop.h, which follows no calls; elsewhere
 * no loop is recognized.
 * Must not: take work for polling: what it does not know is no such loop. A loop that compares a count with what it
 * reads, reads where a count says, calculates with what it carries from round to round, or calls something that does,
 * is at work.
 */
#ifndef QZI_POLL_LOOP_H
#define QZI_POLL_LOOP_H

#include "store_free_loop.h"

#define QZI_CALLEE_BYTES 256u
enum qzi_callee {
  QZI_CALLEE_UNKNOWN = 0,
  QZI_CALLEE_CODE,  /* `code` is its beginning */
  QZI_CALLEE_CLOCK, /* it reads a clock */
  QZI_CALLEE_YIELD, /* it lets others run, or keeps the profile stack */
  QZI_CALLEE_HOOK   /* likewise, and keeps all registers */
};
/* Finds what a loop calls: by the call that returns to `back`, or where that is 0 the procedure at `target`. `bytes`:
 * QZI_CALLEE_BYTES for its code. */
struct qzi_callees {
  void *context;
  enum qzi_callee (*look)(void *context, uint64_t target, uint64_t back, struct qzi_code *code, unsigned char *bytes);
};

/* Address of the first instruction of the loop around the instruction at `seen`, if it is one that polls; else 0.
 * framed: the frame pointer points into the thread's stack, so that what lies there is the thread's own. callees NULL:
 * what it calls is not known. */
uint64_t qzi_poll_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees);

#endif
