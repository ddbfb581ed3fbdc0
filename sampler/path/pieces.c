/* See pieces.h. */
#include "pieces.h"

#define PARTS 8u

/* xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *random) {
  uint64_t x = *random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *random = x;
}

int qzi_chosen(uint64_t *random, uint64_t a, uint64_t b) {
  uint64_t sum = a + b;
  return sum && next(random) % sum < b;
}

static int alike(const struct qzi_piece *a, const struct qzi_piece *b) {
  return a->stack == b->stack && a->thread == b->thread && a->state == b->state && a->inferred == b->inferred;
}

/* Appends pieces[from .. to-1] to the first `kept` pieces, merging equal ones. */
static uint32_t gather(struct qzi_piece *pieces, uint32_t kept, uint32_t from, uint32_t to) {
  uint32_t begin = kept;
  for (; from < to; from++) {
    uint32_t at = begin;
    while (at < kept && !alike(&pieces[at], &pieces[from])) at++;
    if (at < kept)
      pieces[at].time += pieces[from].time;
    else
      pieces[kept++] = pieces[from];
  }
  return kept;
}

uint32_t qzi_pieces_shorten(struct qzi_piece *pieces, uint32_t count, uint64_t *random) {
  if (count <= QZI_PIECES_KEPT) return count;
  uint32_t kept = 0;
  for (uint32_t part = 0; part < PARTS; part++)
    kept = gather(pieces, kept, (uint32_t)((uint64_t)count * part / PARTS),
                  (uint32_t)((uint64_t)count * (part + 1) / PARTS));
  while (kept > QZI_PIECES_KEPT) {
    uint32_t half = 0;
    for (uint32_t k = 0; k < kept; k += 2) {
      uint64_t other = k + 1 < kept ? pieces[k + 1].time : 0, time = pieces[k].time + other;
      pieces[half] = pieces[k + (unsigned)qzi_chosen(random, pieces[k].time, other)];
      pieces[half++].time = time;
    }
    kept = half;
  }
  return kept;
}
