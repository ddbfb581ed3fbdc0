/* Whether a loop that polls waits for its turn at a lock of the program's own: a ticket that was drawn before
 * (fetch-and-add) comes up, or the one before in a queue (exchange) lets go. Recognized by the code that leads into the
 * loop.
 *
 * Owns:    nothing; a function of bytes. x86-64; elsewhere none is recognized.
 * Must not: take a barrier's counter, or the place in a ring that a ticket stands for, for a lock.
 */
#ifndef QZI_QUEUE_LOCK_H
#define QZI_QUEUE_LOCK_H

#include "store_free_loop.h"

/* start: first instruction of the loop. code: what lies before it, too. */
int qzi_queue_lock(const struct qzi_code *code, uint64_t start);

#endif
