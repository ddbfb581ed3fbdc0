/* The run as a sequence of stretches.
 *
 * Owns:    the section TIMELINE and what is needed to find each stretch's top entity.
 * Writer and reader: the aggregating thread of one recording.
 *
 * A stretch consists of whole snapshots: it ends with the first snapshot at which it is long enough, so that stretches
 * cover the time without gaps. When the table is full, neighbours are joined, and later stretches are twice as long;
 * the top of a joined stretch is the one that was on top for longer in its half.
 */
#ifndef QZI_TIMELINE_H
#define QZI_TIMELINE_H

#include "file.h"

#define QZI_STRETCH_NS UINT64_C(1000000) /* initial length of a stretch */

struct qzi_timeline {
  struct qzi_file *file;
  uint64_t length_ns;  /* length that a stretch should have now */
  uint64_t *top_ns;    /* by stretch: time for which its top entity was on top */
  uint64_t *entity_ns; /* by entity: time on top in the open stretch */
  uint32_t *touched;   /* entities with such a time */
  uint32_t touched_count, touched_room;
  uint32_t best;
  size_t entity_bytes;
};

int qzi_timeline_open(struct qzi_timeline *line, struct qzi_file *file);
void qzi_timeline_close(struct qzi_timeline *line);

/* Makes room for one more snapshot. Returns 0, or -1 if the disk is full. Then, for that snapshot: qzi_timeline_top for
 * each thread, and qzi_timeline_add. */
int qzi_timeline_prepare(struct qzi_timeline *line, uint64_t start_ns);
/* The entity that counts as the top of a stack that ends at `node`: the innermost one except loops and lines of
 * code. */
uint32_t qzi_timeline_entity(const struct qzi_timeline *line, uint32_t node);
/* For an entity that has no time in the open stretch yet. */
void qzi_timeline_first_top(struct qzi_timeline *line, uint32_t entity, uint64_t ns);
/* entity 0: none; nothing is added. */
static inline void qzi_timeline_top(struct qzi_timeline *line, uint32_t entity, uint64_t ns) {
  if (!entity) return;
  uint64_t *at = &line->entity_ns[entity];
  if (*at == 0) {
    qzi_timeline_first_top(line, entity, ns);
    return;
  }
  *at += ns;
  if (*at > line->entity_ns[line->best]) line->best = entity; /* best 0: entity_ns[0] is 0 */
}
/* whole 0: a part of a snapshot, but not its last part. */
void qzi_timeline_add(struct qzi_timeline *line, uint64_t ns, unsigned processors, unsigned useful, unsigned overhead,
                      unsigned spinning, uint32_t runnable, int whole);
/* The number of processors was `processors` the whole time, not `before`; idle processors are corrected by the
 * difference. */
void qzi_timeline_resize(struct qzi_timeline *line, uint32_t before, uint32_t processors);

#endif
