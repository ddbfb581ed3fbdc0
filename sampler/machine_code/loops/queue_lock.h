/* Whether a loop that polls waits for its turn at a lock implemented by the program: for its ticket, drawn before by a
 * fetch-and-add, or for its predecessor in a queue, found by an exchange. Recognized by the code before the loop.
 *
 * Owns:    nothing; a function of bytes. x86-64; on other machines none is recognized.
 * Must not: mistake a barrier's counter, or a ticket for a place in a ring buffer, for a lock.
 */
#ifndef QZI_QUEUE_LOCK_H
#define QZI_QUEUE_LOCK_H

#include "store_free_loop.h"

/* start: address of the loop's first instruction. code: must include the code before the loop. */
int qzi_queue_lock(const struct qzi_code *code, uint64_t start);

#endif
