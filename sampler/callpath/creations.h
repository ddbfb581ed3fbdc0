/* Creators of threads in programs without hooks: the path of a thread begins with the path of the pthread_create call
 * that created it; and the places where futexes were first waited for.
 *
 * Owns:    creations whose path is not completely known yet.
 * Writer and reader: the aggregating thread.
 * Must not: attribute work to a place that did not request it: threads that a library creates (a run-time library, a
 * pool) work for whoever calls the library later; their paths stay as their records have them.
 *
 * Source: logical call paths of Tallent & Mellor-Crummey 2009, section 4.
 */
#ifndef QZI_CREATIONS_H
#define QZI_CREATIONS_H

#include "call_path.h"

struct qzi_creations;

/* Takes the call path of the first wait for the futex with that record of the session, by `thread` (an entity). */
typedef void qzi_first_wait(struct qzi_interner *in, uint32_t record, uint32_t thread, const struct qzi_walk *walk);
/* Returns NULL if the session records no creations, or if there is no memory. */
struct qzi_creations *qzi_creations_open(struct qzi_interner *in, struct qzi_paths *paths, qzi_first_wait *first_wait);
void qzi_creations_close(struct qzi_creations *creations);
/* To be called at the beginning of each snapshot: reads the creations since the last one, and sets
 * qzi_interner.bases. */
void qzi_creations_read(struct qzi_creations *creations, uint64_t now_ns);

#endif
