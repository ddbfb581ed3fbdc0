/* The run's chain, stretch by stretch as it becomes certain: summed, and in time order.
 *
 * Owns:    what becomes the sections ON_PATH and SEGMENTS.
 * Writer and reader: the aggregating thread.
 * Must not: have gaps: what no link covers is unknown time (stack 0, thread 0), and counted.
 */
#ifndef QZI_PATH_SETTLED_H
#define QZI_PATH_SETTLED_H

#include "chains.h"
#include "sampler/profile/interner.h"

struct qzi_settled {
  struct qzi_interner *in;
  uint32_t segments_most;  /* of more, neighbours are joined */
  int in_order_only;       /* 1: nothing is summed */
  struct qz_on_path *sums; /* ns: time, until they are written */
  uint32_t sums_count, sums_room;
  struct qzi_table index;
  struct qz_path_segment *segments;
  uint32_t segments_count, segments_room;
  uint64_t time;   /* complete up to then */
  uint64_t cut;    /* of that, what no link covers, or two do */
  uint64_t memory; /* stretches for which there was no memory */
  uint32_t by;     /* how the path came to who has it now */
  uint8_t came;
};

/* Of a whole run: what all of it sums to, and in time order. */
void qzi_settled_open(struct qzi_settled *settled, struct qzi_interner *in);
void qzi_settle(void *settled, const struct qzi_link *link);
/* Writes both sections; elapsed_ns is the path's length. */
void qzi_settled_write(struct qzi_settled *settled, struct qzi_file *file, uint64_t elapsed_ns);
/* In time order only, beginning anew at that time, with what `of` has from then on; at most so many segments. */
void qzi_settled_again(struct qzi_settled *settled, const struct qzi_settled *of, uint64_t from, uint32_t most);
/* The same for the segments alone: they fill `ns` nanoseconds from start_ns on, exactly. Returns their number; `to` has
 * room for segments_most. */
uint32_t qzi_settled_segments(const struct qzi_settled *settled, struct qz_path_segment *to, uint64_t start_ns,
                              uint64_t ns);
void qzi_settled_free(struct qzi_settled *settled);

#endif
