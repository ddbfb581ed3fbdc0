/* What a sleeping thread of a tree waits for, as /proc shows it.
 *
 * Owns:    nothing but what ends.h keeps. The observing thread.
 * Must not: stop a process, or look at one more than once while it sleeps.
 */
#ifndef QZI_TREE_LOOK_H
#define QZI_TREE_LOOK_H

#include "ends.h"

/* Sets wait and peers. */
void qzi_tree_look(const struct qzi_tree *tree, struct qzi_tree_ends *ends, struct qzi_tree_thread *thread);
/* What the process is called: its title, where it has given itself one ("postgres: writer"), or the script that an
 * interpreter runs. 0: nothing but what its kind says. */
int qzi_tree_title(const struct qzi_tree_process *process, const char *kind, char *name, unsigned bytes);

#endif
