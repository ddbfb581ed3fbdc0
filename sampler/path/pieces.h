/* What one actor did in one stretch of a chain, piece by piece, in time order.
 *
 * Owns:    nothing. Must not: change how much time there is, nor, on average, of what.
 */
#ifndef QZI_PATH_PIECES_H
#define QZI_PATH_PIECES_H

#include <stdint.h>

/* A stretch of a chain: what one actor did, seen at once. */
struct qzi_piece {
  uint64_t time;          /* length */
  uint32_t stack, thread; /* node, entity; 0: unknown */
  uint8_t state;          /* enum qz_state */
  uint8_t inferred;
};

#define QZI_PIECES_KEPT 256u

/* 1 with probability b / (a + b), else 0. random: state of the generator, not 0. */
int qzi_chosen(uint64_t *random, uint64_t a, uint64_t b);

/* Makes at most QZI_PIECES_KEPT of `count` pieces; their number. First equal pieces of one eighth of them become one,
 * at the place of the first, which loses nothing but their order; then neighbours are joined into one of the two,
 * chosen with a probability proportional to its length, so that sums are right on average. */
uint32_t qzi_pieces_shorten(struct qzi_piece *pieces, uint32_t count, uint64_t *random);

#endif
