/* Amounts of counted events, by calling context.
 *
 * Owns:    the section COUNTED and the table to find its elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: look at code. Bounded: if the section is full, amounts are added to no context.
 */
#ifndef QZI_COUNTED_H
#define QZI_COUNTED_H

#include "interner.h"

struct qzi_counted {
  struct qzi_file *file;
  struct qzi_table index; /* by stack and counter */
};

/* Adds an amount to the path of `node`; 0: to no known path. An amount of 0 records that the counter is available. */
void qzi_counted_add(struct qzi_counted *counted, uint32_t node, enum qz_counter counter, uint64_t amount);
void qzi_counted_close(struct qzi_counted *counted);

#endif
