/* Paths of threads whose program has no hooks begin where they were created: with the callers of pthread_create.
 *
 * Owns:    creations of which not all is known yet.
 * Writer and reader: the aggregating thread.
 * Must not: give work to a place that did not ask for it: where a library creates threads (a run-time library's, a
 * pool's), they work for whoever calls it later, and their paths stay as their records have them.
 *
 * Source: logical call paths of Tallent & Mellor-Crummey 2009, section 4.
 */
#ifndef QZI_CREATIONS_H
#define QZI_CREATIONS_H

#include "call_path.h"

struct qzi_creations;

/* NULL: the session has none, or no memory. */
struct qzi_creations *qzi_creations_open(struct qzi_interner *in, struct qzi_paths *paths);
void qzi_creations_close(struct qzi_creations *creations);
/* A snapshot begins: looks at those that have come since the last one (qzi_interner.bases). */
void qzi_creations_read(struct qzi_creations *creations, uint64_t now_ns);

#endif
