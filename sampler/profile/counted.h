/* What was counted, by calling context.
 *
 * Owns:    the section COUNTED and the way to find its elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: look at code. Bounded: where the section is full, amounts go to no context.
 */
#ifndef QZI_COUNTED_H
#define QZI_COUNTED_H

#include "interner.h"

struct qzi_counted {
  struct qzi_file *file;
  struct qzi_table index; /* by stack and counter */
};

/* So much happened on the path of that node, 0: of none that is known. An amount of 0 says that it is counted. */
void qzi_counted_add(struct qzi_counted *counted, uint32_t node, enum qz_counter counter, uint64_t amount);
void qzi_counted_close(struct qzi_counted *counted);

#endif
