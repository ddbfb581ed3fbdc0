/* What if: lengths of the same chains, as they would be if something took another part of its time
 * (docs/reference/path.md, "What if").
 *
 * Owns:    the questions of this recording, as the sampler's clock page had them when it began.
 * Writer:  who begins the recording. Reader: whoever ends a strand.
 * Must not: cost more than the test of one word where nothing is asked.
 *
 * A lane is one more length beside a chain's own. A strand adds to it what it took, times the factor where it belongs
 * to what is asked about; where chains meet, the longest goes on, in each lane by itself. So a lane is the span that
 * the graph of strands has with those weights: with factor 1 it is the span, and it never is longer with a smaller one.
 */
#ifndef QZI_WHAT_IF_H
#define QZI_WHAT_IF_H

#include "private.h"

#pragma GCC visibility push(hidden)
extern bool qzi_what_if_any;   /* something is asked */
extern bool qzi_what_if_locks; /* of that, something about a lock, */
extern bool qzi_what_if_calls; /* or about calls of a procedure */
extern uint64_t qzi_what_if_factor[QZ_WHAT_IFS];

/* A recording begins: takes over what is asked. */
void qzi_what_if_prepare(const struct qz_what_if *asked);
/* Nothing was asked, and nothing has been chosen yet. */
extern bool qzi_what_if_choosing;
/* The thread, which runs, writes a crumb: a vote for the places that it was created at, and, when it is time, the
 * choice. */
void qzi_what_if_choose(const struct qzi_span *span);
/* Bits of the questions that a thread is about from its begin on, whatever its creator is in. */
uint8_t qzi_what_if_created(const struct qzi_pub_thread *t);
/* Bits of those that are about calls of the procedure that begins there. By hooks: at any instruction. */
uint8_t qzi_what_if_called(uint64_t entry);
/* Some of those calls could not be identified. */
void qzi_what_if_missed(unsigned bits);
void qzi_what_if_seen(unsigned bits);
/* Bits of those that are about the lock with that record: its order counts for nothing there. */
uint8_t qzi_what_if_lock(uint32_t object);
#pragma GCC visibility pop

static inline uint64_t qzi_what_if_weighted(unsigned k, uint64_t ticks) {
  return (uint64_t)((unsigned __int128)ticks * qzi_what_if_factor[k] / QZ_WHAT_IF_ONE);
}
/* The thread goes on by so much, of which `work` is its own. */
static inline void qzi_what_if_lengthen(struct qzi_span *span, uint64_t ticks) {
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++)
    span->now.what_if[k] += span->inside & 1u << k ? qzi_what_if_weighted(k, ticks) : ticks;
}
static inline void qzi_what_if_strand(struct qzi_span *span, struct qz_span *record, uint64_t ticks) {
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    uint64_t weighted = span->inside & 1u << k ? qzi_what_if_weighted(k, ticks) : ticks;
    span->now.what_if[k] += weighted;
    qzi_pub_store(&record->what_if_work[k], record->what_if_work[k] + weighted);
  }
}

#endif
