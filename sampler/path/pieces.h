/* The activities of one actor in one stretch of a chain, as pieces in order of time.
 *
 * Owns:    nothing.
 * Must not: change the total time, nor, on average, the time of any activity.
 */
#ifndef QZI_PATH_PIECES_H
#define QZI_PATH_PIECES_H

#include <stdint.h>

/* A part of a stretch: time, state and call path of one actor. */
struct qzi_piece {
  uint64_t time;          /* length */
  uint32_t stack, thread; /* node of the call path; entity of the thread; 0: unknown */
  uint8_t state;          /* enum qz_state */
  uint8_t inferred;
};

#define QZI_PIECES_KEPT 256u

/* Returns 1 with probability b / (a + b), else 0. random: state of the generator, not 0. */
int qzi_chosen(uint64_t *random, uint64_t a, uint64_t b);

/* Shortens `count` pieces to at most QZI_PIECES_KEPT; returns their number. First, equal pieces within each eighth
 * become one, at the place of the first, which loses only their order; then neighbours are joined into one of the two,
 * chosen with a probability proportional to its length, so that sums are correct on average. */
uint32_t qzi_pieces_shorten(struct qzi_piece *pieces, uint32_t count, uint64_t *random);

#endif
