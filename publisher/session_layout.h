/* How large the session is, and where its tables are.
 *
 * Owns:    nothing: sizes in the description of the session (private.h), offsets in a head that is not published yet.
 * Used by: session.c, before there is a session or a second kernel thread.
 */
#ifndef QZI_SESSION_LAYOUT_H
#define QZI_SESSION_LAYOUT_H

#include "private.h"

#pragma GCC visibility push(hidden)

#define QZI_PAGE          4096u
#define QZI_OBJECTS_LEAST 256u

/* The tables of the session one after the other; returns its size. */
uint64_t qzi_session_lay_out(struct qzi_session *s, struct qz_session *head);

/* Halves what takes most, until the session is no larger than it may be, or nothing is left to halve. Of threads and
 * objects, whose numbers other tables know, only before there is a session (`started`). */
void qzi_session_fit(struct qzi_session *s, bool started);

#pragma GCC visibility pop
#endif
