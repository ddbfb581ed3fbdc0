/* The certain part of the run's path, as sums and in order of time.
 *
 * Owns:    the contents of the sections ON_PATH and SEGMENTS.
 * Writer and reader: the aggregating thread.
 * Must not: have gaps: time that no link covers is unknown (stack 0, thread 0), and counted.
 */
#ifndef QZI_PATH_SETTLED_H
#define QZI_PATH_SETTLED_H

#include "chains.h"
#include "sampler/profile/interner.h"

struct qzi_settled {
  struct qzi_interner *in;
  uint32_t segments_most;  /* if there are more, neighbours are joined */
  int in_order_only;       /* 1: no sums */
  struct qz_on_path *sums; /* ns: in the clock page's units until they are written */
  uint32_t sums_count, sums_room;
  uint64_t *shown; /* scratch memory of qzi_settled_show: ns by sum */
  uint32_t shown_room;
  struct qzi_table index;
  struct qz_path_segment *segments;
  uint32_t segments_count, segments_room;
  uint64_t time;   /* the path is complete up to this time */
  uint64_t cut;    /* part of that time which no link covers, or which two cover */
  uint64_t memory; /* stretches lost because there was no memory */
  uint32_t by;     /* how the path came to the current thread */
  uint8_t came;
};

/* For a whole run: sums, and segments in order of time. */
void qzi_settled_open(struct qzi_settled *settled, struct qzi_interner *in);
void qzi_settle(void *settled, const struct qzi_link *link);
/* Writes both sections; elapsed_ns is the length of the path. */
void qzi_settled_write(struct qzi_settled *settled, struct qzi_file *file, uint64_t elapsed_ns);
/* For segments only: begins at `from`, with a copy of what `of` has from then on; at most `most` segments. */
void qzi_settled_again(struct qzi_settled *settled, const struct qzi_settled *of, uint64_t from, uint32_t most);
/* Converts the segments: they fill `ns` nanoseconds from start_ns on, exactly. Returns their number; `to` must have
 * room for segments_most. */
uint32_t qzi_settled_segments(const struct qzi_settled *settled, struct qz_path_segment *to, uint64_t start_ns,
                              uint64_t ns);
/* Adds to the sums what `of` has between settled->time and `until`; its segments are not copied. */
void qzi_settled_sum(struct qzi_settled *settled, const struct qzi_settled *of, uint64_t until);
/* Writes the sums while the recording continues, together with what `of` has after them. */
void qzi_settled_show(struct qzi_settled *settled, const struct qzi_settled *of, struct qzi_file *file);
void qzi_settled_free(struct qzi_settled *settled);

#endif
