/* The analyses of poll_loop.h and store_free_loop.h for aarch64: whether code only polls, or can do nothing but wait.
 * Loops that call procedures (including atomic operations that gcc puts into procedures, -moutline-atomics), store into
 * their own frame, or contain loops are not analysed; they count as work.
 *
 * Owns:    nothing; a function of bytes. It runs on every machine.
 * Must not: mistake work for polling: a loop with anything unknown does not count as polling.
 */
#ifndef QZI_ARM_POLL_LOOP_H
#define QZI_ARM_POLL_LOOP_H

#include "seen_code.h"

/* As qzi_poll_loop, but without following calls. */
uint64_t qzi_arm_poll_loop(const struct qzi_code *code, uint64_t seen, int framed);
/* As qzi_store_free_loop. */
uint64_t qzi_arm_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last);
/* 1: the loop that begins there tries to take a lock: it contains an exchange. */
int qzi_arm_loop_tries(const struct qzi_code *code, uint64_t start);

#endif
