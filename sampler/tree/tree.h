/* A tree of processes: what each kind of process in it did, by the number of the tree's threads that had a CPU at that
 * time.
 *
 * Owns:    the living processes and threads, sums by kind of process, the processes with the most time, the time line.
 * Writer and reader: the observing thread (observer.h); when that has ended, the thread that writes the file
 * (tree_file.h).
 * Must not: ask the kernel, or read a clock: events are its only input, so that tests can make them up.
 *
 * docs/reference/trees.md defines what the numbers mean.
 */
#ifndef QZI_TREE_H
#define QZI_TREE_H

#include "sampler/linux/task_events.h"
#include "tree_state.h"

/* Begins with the process `root`, which has not executed a program yet. Returns NULL if there is no memory. */
struct qzi_tree *qzi_tree_new(uint32_t root, const char *name, unsigned cpus, uint64_t begin_ns);
void qzi_tree_free(struct qzi_tree *tree);
/* Processes an event. Events must come in order of time; an earlier one is treated as if it had the last one's time. */
void qzi_tree_take(struct qzi_tree *tree, const struct qzi_task_event *event);
/* Advances the time to now_ns without an event. Time after the launched process's end does not count. */
void qzi_tree_advance(struct qzi_tree *tree, uint64_t now_ns);
/* Ends all living processes; must be the last call. */
void qzi_tree_end(struct qzi_tree *tree);

/* The living thread or process with that number; NULL: there is none. */
struct qzi_tree_thread *qzi_tree_thread_of(const struct qzi_tree *tree, uint32_t tid);
struct qzi_tree_process *qzi_tree_process_of(const struct qzi_tree *tree, uint32_t pid);
#endif
