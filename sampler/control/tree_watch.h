/* The observation of a launched program and of all processes that descend from it (--tree), from before it begins until
 * its end, into one file.
 *
 * Owns:    the observer (tree/observer.h) and the name of the file. Writer and reader: the control thread.
 * Must not: stop, signal or wait for any of the processes.
 *
 * A pointer to it may be NULL: nothing is observed.
 */
#ifndef QZI_TREE_WATCH_H
#define QZI_TREE_WATCH_H

#include <stdint.h>
#include <sys/types.h>
#include "launch.h"
#include "options.h"

struct qzi_tree_watch;
struct rusage;

/* For the file `pattern` (NULL: default) with the extension of trees. Returns NULL after reporting why no such file can
 * be written. There is one. */
struct qzi_tree_watch *qzi_tree_watch_new(const char *pattern, const char *program);
/* Runs the program as qzi_launch does, and observes it from before it begins. Reports on stderr if it cannot be
 * observed; it runs nevertheless. */
pid_t qzi_tree_watch_launch(struct qzi_tree_watch *watch, char **argv, const struct qzi_prepared *how,
                            const sigset_t *mask);
/* The child has ended at end_ns: nothing that happens from now on is observed. */
void qzi_tree_watch_stop(struct qzi_tree_watch *watch, uint64_t end_ns);
/* Where to write what the kernel counted for the child. */
struct rusage *qzi_tree_watch_used(struct qzi_tree_watch *watch);
/* Writes what was observed, and frees it; reports a failure on stderr. Returns `code`, the child's exit code as a shell
 * has it. */
int qzi_tree_watch_finish(struct qzi_tree_watch *watch, const struct qzi_options *options, int code);

#endif
