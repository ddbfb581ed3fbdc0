/* Work and span of a recording (docs/reference/path.md, "Work and span").
 *
 * Owns:    the chains of the span, and the contents of the sections ON_SPAN, SITES and LEVELS.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: trust the program: a length that decreases is ignored.
 */
#ifndef QZI_PATH_SPAN_H
#define QZI_PATH_SPAN_H

#include "chains.h"
#include "sampler/profile/interner.h"

struct qzi_span_sums {
  int on;                   /* 0: work and span are not recorded */
  struct qzi_chains chains; /* the `key` of a link is the length of its chain in ticks */
  struct qzi_interner *in;
  struct qz_on_span *rows; /* ns: in ticks until they are written */
  uint32_t rows_count, rows_room;
  struct qzi_table index;
  uint64_t length;                  /* length of the settled part in ticks */
  const struct qz_what_if *what_if; /* QZ_WHAT_IFS questions */
};

/* Returns 0, or -1 if there is no memory. If the session has no room for spans, it stays off. base: as for
 * qzi_chains_open. what_if must remain valid. */
int qzi_span_sums_open(struct qzi_span_sums *span, const struct qz_session_view *view, struct qzi_interner *in,
                       uint64_t base, const struct qz_what_if *what_if);
/* To be called when recording has ended, at time `now`: writes all sections. */
void qzi_span_sums_finish(struct qzi_span_sums *span, uint32_t actors, uint64_t now);
void qzi_span_sums_close(struct qzi_span_sums *span);

#endif
