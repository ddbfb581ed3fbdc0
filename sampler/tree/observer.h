/* Observes a tree of processes while it runs, in a separate thread.
 *
 * Owns:    the events (task_events.h), the tree (tree.h), and the list of pipes and sockets (ends.h).
 * Writer:  the observing thread. Reader: the caller of qzi_observer_begin, after qzi_observer_end.
 * Must not: stop, signal or wait for any of the processes.
 */
#ifndef QZI_TREE_OBSERVER_H
#define QZI_TREE_OBSERVER_H

#include <sys/types.h>
#include "tree.h"

struct qzi_observer;

/* `pid` is our child, which is waiting to be released. Returns NULL with the reason as a clause in *why. */
struct qzi_observer *qzi_observer_begin(pid_t pid, const char *name, const char **why);
/* To be called when the process `pid` has ended, at end_ns. */
void qzi_observer_end(struct qzi_observer *observer, uint64_t end_ns);
struct qzi_tree *qzi_observer_tree(struct qzi_observer *observer);
uint64_t qzi_observer_lost(const struct qzi_observer *observer);
uint64_t qzi_observer_cpu_ns(const struct qzi_observer *observer); /* of the observing thread */
void qzi_observer_free(struct qzi_observer *observer);

#endif
