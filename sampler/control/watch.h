/* Recording a program that publishes nothing: it is watched from outside.
 *
 * Owns:    nothing. Writer and reader: the control thread.
 */
#ifndef QZI_WATCH_H
#define QZI_WATCH_H

#include "abi/program.h"
#include "sampler/outside/session.h"
#include "sampler/recording/request.h"

/* The layer does not fit into a program of that kind, but it can be watched: what it is, a predicate. Else NULL. */
const char *qzi_watched_because(enum qz_program kind);
/* Makes a session for the process `pid`, and says so on stderr, unless the request is quiet: `whose` begins the
 * sentence. NULL: refused, with one clause in *why (static); or it publishes, and *why is left as it was. */
struct qzi_outside *qzi_watch(const struct qzi_recording_request *request, pid_t pid, const char *whose,
                              const char **why);

#endif
