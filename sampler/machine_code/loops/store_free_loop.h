/* Whether code is a loop that can do nothing but wait: it writes no memory, calls nothing, and jumps back.
 *
 * Owns:    nothing; a pure function of bytes. x86-64; on aarch64 by arm_poll_loop.h; elsewhere no loop is
 * recognized.
 * Must not: take a loop that may write for one that waits: what it does not know is no such loop.
 */
#ifndef QZI_STORE_FREE_LOOP_H
#define QZI_STORE_FREE_LOOP_H

#include <stddef.h>
#include <stdint.h>

/* The code of a program around some instructions that it was seen at. */
struct qzi_code {
  uint64_t address; /* of bytes[0] */
  const unsigned char *bytes;
  size_t count;
};

/* Address of the first instruction of the loop that contains the instructions at first..last, if it is one that waits;
 * else 0. Exchanges and compare-and-exchanges count as looks: they are how locks are tried. */
uint64_t qzi_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last);

#endif
