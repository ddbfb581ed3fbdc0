/* Synchronization objects of a program that is watched from outside: those of glibc (x86-64, aarch64) that threads wait
 * for, known by the procedure in which they wait and the futex on which they sleep; and who owns them, as far as glibc
 * writes that into them: a mutex, the writer of a read-write lock, the thread that is joined.
 *
 * Owns:    the objects of the session, and what stands on its records' stacks: the locks that a thread owns, as long as
 *          others wait for them, or did a moment ago.
 * Writer and reader: the aggregating thread.
 * Must not: take for a lock what does not look like one; read more of the program than the object.
 */
#ifndef QZI_OUTSIDE_OBJECTS_H
#define QZI_OUTSIDE_OBJECTS_H

#include "session.h"

/* A thread sleeps on the futex at `address` in the C library's procedure `called` (a symbol), called by the program
 * at `site`. Returns the index of the object in the session, and its kind; 0 if the procedure is unknown, or there
 * is no room. */
uint32_t qzi_outside_object(struct qzi_outside *outside, const char *called, uint64_t address, uint64_t site,
                            uint64_t now_ns, uint32_t *kind);
/* Like qzi_outside_object if only the futex is known, for an object at which another thread was observed to wait. */
uint32_t qzi_outside_known(const struct qzi_outside *outside, uint64_t address, uint32_t *kind);
/* Returns 1 if the lock is mostly held for less than the interval between snapshots: the observed activity of its
 * owner may have been before or after holding it. */
int qzi_outside_is_brief(const struct qzi_outside *outside, uint32_t object);
/* A thread was observed to begin another wait for it. Counts fewer waits than there are. */
void qzi_outside_begun(const struct qzi_outside *outside, uint32_t object);
/* A thread waits for the object in this snapshot, or has just been woken by it. */
void qzi_outside_waits(struct qzi_outside *outside, uint32_t object, uint64_t now_ns);
/* All threads have been visited; this snapshot stands for `ns`. */
void qzi_outside_waited(struct qzi_outside *outside, uint64_t ns);

#endif
