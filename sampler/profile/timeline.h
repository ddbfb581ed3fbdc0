/* The run in stretches.
 *
 * Owns:    the section TIMELINE and what is needed to find each stretch's top entity.
 * Writer and reader: the aggregating thread of one recording.
 *
 * A stretch is made of whole snapshots: it ends with the first snapshot at which it is long enough, so stretches
 * tile the time without gaps. When the table is full neighbours are joined and later stretches are twice as long;
 * the top of a joined stretch is the one that was on top for longer in its half.
 */
#ifndef QZI_TIMELINE_H
#define QZI_TIMELINE_H

#include "file.h"

#define QZI_STRETCH_NS UINT64_C(1000000) /* first length */

struct qzi_timeline {
  struct qzi_file *file;
  uint64_t length_ns;  /* wanted of a stretch now */
  uint64_t *top_ns;    /* by stretch: how long its top was on top */
  uint64_t *entity_ns; /* by entity: time on top in the open stretch */
  uint32_t *touched;   /* entities with time there */
  uint32_t touched_count, touched_room;
  uint32_t best;
  size_t entity_bytes;
};

int qzi_timeline_open(struct qzi_timeline *line, struct qzi_file *file);
void qzi_timeline_close(struct qzi_timeline *line);

/* Room for one more snapshot: 0, or -1 (disk full). Then, for that snapshot: tops, and the sums. */
int qzi_timeline_prepare(struct qzi_timeline *line, uint64_t start_ns);
/* What counts as on top of a stack that ends at `node`: its innermost entity but for loops and lines of code. */
uint32_t qzi_timeline_entity(const struct qzi_timeline *line, uint32_t node);
/* 0: none, and nothing is added. */
void qzi_timeline_top(struct qzi_timeline *line, uint32_t entity, uint64_t ns);
/* whole: 0: a part of a snapshot, which is not the last one. */
void qzi_timeline_add(struct qzi_timeline *line, uint64_t ns, unsigned processors, unsigned useful, unsigned overhead,
                      unsigned spinning, uint32_t runnable, int whole);
/* There were `processors` all the time, not `before`; those were idle that it is more or less. */
void qzi_timeline_resize(struct qzi_timeline *line, uint32_t before, uint32_t processors);

#endif
