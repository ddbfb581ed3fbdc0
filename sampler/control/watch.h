/* Recording a program that publishes nothing: it is watched from outside.
 *
 * Owns:    nothing. Writer and reader: the control thread.
 */
#ifndef QZI_WATCH_H
#define QZI_WATCH_H

#include "abi/program.h"
#include "sampler/outside/session.h"
#include "sampler/recording/request.h"

/* A predicate that describes programs in which the layer does not work, but that can be observed; otherwise NULL. */
const char *qzi_watched_because(enum qz_program kind);
/* Creates a session for the process `pid` and reports it on stderr unless the request is quiet; the sentence begins
 * with `whose`. Returns NULL if refused, with a static clause in *why, or if the process publishes itself, without
 * changing *why. */
struct qzi_outside *qzi_watch(const struct qzi_recording_request *request, pid_t pid, const char *whose,
                              const char **why);

#endif
