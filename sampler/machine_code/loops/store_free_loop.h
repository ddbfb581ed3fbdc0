/* Whether code is a loop that can do nothing but wait: it writes no memory, calls nothing, and jumps back.
 *
 * Owns:    nothing; a pure function of bytes. x86-64; on aarch64 by arm_poll_loop.h; on other machines no loop is
 * recognized.
 * Must not: mistake a loop that may write for one that waits: a loop with anything unknown does not count.
 */
#ifndef QZI_STORE_FREE_LOOP_H
#define QZI_STORE_FREE_LOOP_H

#include <stdint.h>
#include "seen_code.h"

/* Address of the first instruction of the loop that contains the instructions at first..last, if the loop only waits;
 * else 0. Exchanges and compare-and-exchanges count as reads: they are how locks are tried. */
uint64_t qzi_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last);

#endif
