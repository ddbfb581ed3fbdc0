/* Work and span of a recording (docs/reference/path.md, "Work and span").
 *
 * Owns:    the chains of the span, and what becomes the sections ON_SPAN, SITES and LEVELS.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: believe the program: a length that falls counts as none.
 */
#ifndef QZI_PATH_SPAN_H
#define QZI_PATH_SPAN_H

#include "chains.h"
#include "sampler/profile/interner.h"

struct qzi_span_sums {
  int on;                   /* 0: not recorded */
  struct qzi_chains chains; /* `key` of a link: length of its chain, ticks */
  struct qzi_interner *in;
  struct qz_on_span *rows; /* ns: ticks, until they are written */
  uint32_t rows_count, rows_room;
  struct qzi_table index;
  uint64_t length;                  /* settled up to then, ticks */
  const struct qz_what_if *what_if; /* QZ_WHAT_IFS questions */
};

/* 0, or -1: out of memory. Without room for it in the session it stays off. base: as of qzi_chains_open.
 * what_if: lasts as long. */
int qzi_span_sums_open(struct qzi_span_sums *span, const struct qz_session_view *view, struct qzi_interner *in,
                       uint64_t base, const struct qz_what_if *what_if);
/* Recording has ended at that time: writes all. */
void qzi_span_sums_finish(struct qzi_span_sums *span, uint32_t actors, uint64_t now);
void qzi_span_sums_close(struct qzi_span_sums *span);

#endif
