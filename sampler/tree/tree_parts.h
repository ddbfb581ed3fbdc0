/* What the parts of a tree (tree.h) share. Must not: be included from outside sampler/tree/. */
#ifndef QZI_TREE_PARTS_H
#define QZI_TREE_PARTS_H

#include "tree_state.h"

/* kinds.c: kinds of processes, and what is kept of single processes. */
uint32_t qzi_tree_kind_of(struct qzi_tree *tree, const char *name, uint32_t forked);
void qzi_tree_enter_kind(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind);
/* to be called when the process has executed another program */
void qzi_tree_became(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind);
/* Names the kind of the launched process after its program, also for the time before it executed that. */
void qzi_tree_name_root(struct qzi_tree *tree, const struct qzi_tree_process *root, const char *name);
/* Names the process from now on (its title). */
void qzi_tree_rename(struct qzi_tree *tree, struct qzi_tree_process *process, const char *name);
/* to be called when the process has ended */
void qzi_tree_leave_kind(struct qzi_tree *tree, struct qzi_tree_process *process);
void qzi_tree_keep(struct qzi_tree *tree, const struct qzi_tree_process *process);
/* Counts one more living child (by 1), or one less (by -1). */
void qzi_tree_family_on(struct qzi_tree *tree, struct qzi_tree_process *parent, int by, uint32_t child_kind);
void qzi_tree_family_end(struct qzi_tree *tree, struct qzi_tree_process *parent);

/* spans.c: advances the time line from tree->now_ns to now_ns. */
void qzi_tree_spans_on(struct qzi_tree *tree, uint64_t now_ns);

/* chains.c: advances the thread's chain to tree->now_ns. */
void qzi_tree_chain_on(struct qzi_tree *tree, struct qzi_tree_thread *thread);
/* To be called when the thread's sleep ends: its chain becomes that of the thread that ended the sleep, if that is
 * known. */
void qzi_tree_woken(struct qzi_tree *tree, struct qzi_tree_thread *thread);
/* To be called when a process has ended with that chain, which threads that waited for it (at a pipe or the like)
 * continue. */
void qzi_tree_release(struct qzi_tree *tree, const struct qzi_tree_process *process,
                      const struct qzi_tree_chain *chain);

/* waits.c: counts `ns` of waiting by a thread for what it waits for. */
void qzi_tree_waited(struct qzi_tree *tree, const struct qzi_tree_thread *thread, uint64_t ns);
/* waits.c: the thread goes on, and nothing has run before. */
void qzi_tree_gap_ended(struct qzi_tree *tree, const struct qzi_tree_thread *thread);
/* waits.c: divides the waits and gaps of sleeps that nobody examined among the others of that kind of process: in
 * proportion to those of short sleeps. */
void qzi_tree_share_unknown(struct qzi_tree *tree);

#endif
