/* What the parts of a tree (tree.h) share. Must not: be included from outside sampler/tree/. */
#ifndef QZI_TREE_PARTS_H
#define QZI_TREE_PARTS_H

#include "tree.h"

/* kinds.c: kinds of processes, and what is kept of processes. */
uint32_t qzi_tree_kind_of(struct qzi_tree *tree, const char *name, uint32_t forked);
void qzi_tree_enter_kind(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind);
void qzi_tree_became(struct qzi_tree *tree, struct qzi_tree_process *process, uint32_t kind); /* by exec */
/* The launched process runs its program from now on, and did before as far as it counts. */
void qzi_tree_name_root(struct qzi_tree *tree, const struct qzi_tree_process *root, const char *name);
void qzi_tree_leave_kind(struct qzi_tree *tree, struct qzi_tree_process *process); /* at its end */
void qzi_tree_keep(struct qzi_tree *tree, const struct qzi_tree_process *process);
/* One more child lives (by 1), or one less (by -1). */
void qzi_tree_family_on(struct qzi_tree *tree, struct qzi_tree_process *parent, int by, uint32_t child_kind);
void qzi_tree_family_end(struct qzi_tree *tree, struct qzi_tree_process *parent);

/* spans.c: the time line, from tree->now_ns to now_ns. */
void qzi_tree_spans_on(struct qzi_tree *tree, uint64_t now_ns);

/* chains.c: the thread's chain is brought up to tree->now_ns. */
void qzi_tree_chain_on(struct qzi_tree *tree, struct qzi_tree_thread *thread);
/* It sleeps no more: its chain becomes that of who ended its sleep, if that is known. */
void qzi_tree_woken(struct qzi_tree *tree, struct qzi_tree_thread *thread);
/* A process has ended with that chain: who waits at a pipe or the like for it may go on. */
void qzi_tree_release(struct qzi_tree *tree, const struct qzi_tree_process *process,
                      const struct qzi_tree_chain *chain);

#endif
