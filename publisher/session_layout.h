/* The size of the session, and the offsets of its tables.
 *
 * Owns:    nothing: it sets sizes in the description of the session (private.h), and offsets in a head that is not
 *          published yet.
 * Used by: session.c, before there is a session or a second kernel thread.
 */
#ifndef QZI_SESSION_LAYOUT_H
#define QZI_SESSION_LAYOUT_H

#include "private.h"

#pragma GCC visibility push(hidden)

#define QZI_PAGE          4096u
#define QZI_OBJECTS_LEAST 256u

/* Places the tables of the session one after the other; returns its size in bytes. */
uint64_t qzi_session_lay_out(struct qzi_session *s, struct qz_session *head);

/* Halves the largest table repeatedly until the session fits the address space limit, or nothing is left to halve.
 * The tables of threads and objects, on whose size others depend, are halved only before there is a session
 * (`started` false). */
void qzi_session_fit(struct qzi_session *s, bool started);

#pragma GCC visibility pop
#endif
