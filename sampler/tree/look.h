/* What a sleeping thread of a tree waits for, as /proc shows it.
 *
 * Owns:    only what ends.h keeps. Used by the observing thread.
 * Must not: stop a process.
 */
#ifndef QZI_TREE_LOOK_H
#define QZI_TREE_LOOK_H

#include "ends.h"

/* Sets the members wait and peers of the thread, or of a copy of it; wait stays as it is if the thread does not sleep.
 */
void qzi_tree_look(const struct qzi_tree *tree, struct qzi_tree_ends *ends, struct qzi_tree_thread *thread);
/* Finds the name of a process: its title, if it has set one ("postgres: writer"), or the script that an interpreter
 * runs. Returns 0 if there is nothing more than the name of its kind. */
int qzi_tree_title(const struct qzi_tree_process *process, const char *kind, char *name, unsigned bytes);

#endif
