/* What-if queries: lengths of the same chains as they would be if some code took another multiple of its time
 * (docs/reference/path.md, "What if").
 *
 * Owns:    the queries of this recording, copied from the sampler's clock page when it began.
 * Writer:  the thread that begins the recording. Reader: threads that end a strand.
 * Must not: cost more than the test of one word if there is no query.
 *
 * A lane is an additional length beside a chain's own. A strand adds its time to it, multiplied by the factor if the
 * strand belongs to the code of the query. Where chains meet, the maximum continues, for each lane separately. So a
 * lane is the span of the graph of strands with those weights: with factor 1 it is the span, and it never grows when
 * the factor is reduced.
 */
#ifndef QZI_WHAT_IF_H
#define QZI_WHAT_IF_H

#include "private.h"
#include "span_data.h"

#pragma GCC visibility push(hidden)
extern bool qzi_what_if_any;   /* there is a query */
extern bool qzi_what_if_locks; /* there is a query about a lock, */
extern bool qzi_what_if_calls; /* or about calls of a procedure */
extern uint64_t qzi_what_if_factor[QZ_WHAT_IFS];

/* Called when a recording begins: takes over the queries. */
void qzi_what_if_prepare(const struct qz_what_if *asked);
/* True: there was no query, and nothing has been chosen yet. */
extern bool qzi_what_if_choosing;
/* The running thread writes a crumb: votes for the sites at which it and its ancestors were created and, when it is
 * time, chooses. */
void qzi_what_if_choose(const struct qzi_span *span);
/* Returns the bits of the queries to which a thread belongs from its start on, independently of its creator: it begins
 * with `start`, and was created at `site`. */
uint8_t qzi_what_if_created(uint64_t start, uint64_t site);
/* Returns the bits of the queries about calls of the procedure with that entry address. Called by hooks:
 * async-signal-safe. */
uint8_t qzi_what_if_called(uint64_t entry);
/* qzi_what_if_missed: some calls for these queries could not be identified. qzi_what_if_seen: code of these queries
 * has run. */
void qzi_what_if_missed(unsigned bits);
void qzi_what_if_seen(unsigned bits);
/* Returns the bits of the queries about the lock with that record: in these, the order that the lock imposes does
 * not count. */
uint8_t qzi_what_if_lock(uint32_t object);
#pragma GCC visibility pop

static inline uint64_t qzi_what_if_weighted(unsigned k, uint64_t ticks) {
  return (uint64_t)((unsigned __int128)ticks * qzi_what_if_factor[k] / QZ_WHAT_IF_ONE);
}
/* Lengthens the lanes of the thread by that time, weighted if the thread is in the code of a query. */
static inline void qzi_what_if_lengthen(struct qzi_span *span, uint64_t ticks) {
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++)
    span->now.what_if[k] += span->inside & 1u << k ? qzi_what_if_weighted(k, ticks) : ticks;
}
/* The same for a strand. */
static inline void qzi_what_if_strand(struct qzi_span *span, struct qz_span *record, uint64_t ticks) {
  if (__builtin_expect(!span->inside, 1)) {
    for (unsigned k = 0; k < QZ_WHAT_IFS; k++) qzi_pub_more(&span->now.what_if[k], ticks);
    return;
  }
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    uint64_t less = span->inside & 1u << k ? ticks - qzi_what_if_weighted(k, ticks) : 0;
    span->now.what_if[k] += ticks - less;
    if (span->inside & 1u << k) qzi_pub_more(&record->what_if_less[k], less);
  }
}

#endif
