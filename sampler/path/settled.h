/* The run's chain, stretch by stretch as it becomes certain: summed, and in time order.
 *
 * Owns:    what becomes the sections ON_PATH and SEGMENTS.
 * Writer and reader: the aggregating thread.
 * Must not: have gaps: what no link tells is unknown time (stack 0, thread 0), and counted.
 */
#ifndef QZI_PATH_SETTLED_H
#define QZI_PATH_SETTLED_H

#include "chains.h"
#include "sampler/profile/interner.h"

struct qzi_settled {
  struct qzi_interner *in;
  struct qz_on_path *sums; /* ns: time, until they are written */
  uint32_t sums_count, sums_room;
  struct qzi_table index;
  struct qz_path_segment *segments;
  uint32_t segments_count, segments_room;
  uint64_t time;   /* told up to then */
  uint64_t cut;    /* of that, what no link told, or told twice */
  uint64_t memory; /* stretches for which there was no memory */
  uint32_t by;     /* how the path came to who has it now */
  uint8_t came;
};

void qzi_settle(void *settled, const struct qzi_link *link);
/* Writes both sections; elapsed_ns is the path's length. */
void qzi_settled_write(struct qzi_settled *settled, struct qzi_file *file, uint64_t elapsed_ns);
void qzi_settled_free(struct qzi_settled *settled);

#endif
