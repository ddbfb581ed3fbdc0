/* Whether code is a loop that polls: each time round it looks at memory that it does not change, decides by that alone whether to
 * go on, and does nothing else but count.
 *
 * Owns:    nothing; a pure function of bytes. x86-64; elsewhere no loop is recognized.
 * Must not: take work for polling: what it does not know is no such loop. A loop that compares a count with what it reads, or
 *           reads where a count says, is at work.
 */
#ifndef QZI_POLLING_LOOP_H
#define QZI_POLLING_LOOP_H

#include "waiting_loop.h"

/* Address of the first instruction of the loop around the instruction at `seen`, if it is one that polls; else 0.
 * framed: the frame pointer points into the thread's stack, so that what lies there is the thread's own. */
uint64_t qzi_polling_loop(const struct qzi_code *code, uint64_t seen, int framed);

#endif
