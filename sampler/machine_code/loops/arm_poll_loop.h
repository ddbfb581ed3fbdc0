/* What poll_loop.h and store_free_loop.h say of loops, for aarch64: whether code only polls, or can do nothing but
 * wait. Loops that call (atomic operations that gcc leaves to procedures, too: -moutline-atomics), store into their own
 * frame, or have loops inside are not followed: they are at work, as far as is known here.
 *
 * Owns:    nothing; a function of bytes. It runs on every machine.
 * Must not: take work for polling: what it does not know is no such loop.
 */
#ifndef QZI_ARM_POLL_LOOP_H
#define QZI_ARM_POLL_LOOP_H

#include "store_free_loop.h"

/* As qzi_poll_loop, without procedures that are called. */
uint64_t qzi_arm_poll_loop(const struct qzi_code *code, uint64_t seen, int framed);
/* As qzi_store_free_loop. */
uint64_t qzi_arm_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last);
/* 1: the loop that begins there tries to take a lock: it exchanges. */
int qzi_arm_loop_tries(const struct qzi_code *code, uint64_t start);

#endif
