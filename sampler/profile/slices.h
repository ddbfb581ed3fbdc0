/* What each thread did at which time (--timeline): slices for trace viewers.
 *
 * Owns:    the section SLICES, and the open slice of each thread.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: look at the session.
 *
 * A slice is a sequence of consecutive observations of a thread with the same state, stack and object waited for. So
 * the slices of a thread in a state add up to its tuples. Memory and file are bounded: when the table is full, slices
 * shorter than a grain are joined with a neighbour, in the state of the longer one, and the grain doubles. Threads that
 * share an entity with others have no slices.
 */
#ifndef QZI_SLICES_H
#define QZI_SLICES_H

#include "file.h"

struct qzi_slices {
  struct qzi_file *file;       /* NULL: no slices are recorded */
  struct qzi_open_slice *open; /* by entity */
  size_t open_bytes;
  int full;          /* 1: there are too many threads: later ones get no slices */
  uint64_t *longest; /* by slice: the longest part that was joined into it */
};

/* Returns 0, or -1 if there is no memory, or if the disk is full. */
int qzi_slices_open(struct qzi_slices *slices, struct qzi_file *file);
void qzi_slices_close(struct qzi_slices *slices);

void qzi_slice_add_slow(struct qzi_slices *slices, const struct qz_tuple *as, uint64_t end_ns, uint64_t ns);
/* Records that a thread was observed as in the tuple, for the time until end_ns. */
static inline void qzi_slice_add(struct qzi_slices *slices, uint32_t tuple_plus_1, uint64_t end_ns, uint64_t ns) {
  if (slices->file) qzi_slice_add_slow(slices, &slices->file->tuples[tuple_plus_1 - 1], end_ns, ns);
}

#endif
