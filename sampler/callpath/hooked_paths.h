/* Paths published by hooks, refined by samples with the loops and source lines that the code is in.
 *
 * Owns:    the last samples of each path.
 * Writer and reader: the aggregating thread.
 * Must not: change which procedures are on a path; combine it with a sample of other procedures. The procedures that
 * the hooks of a thread have pushed, from its start routine on, must be the innermost frames of the sample, ignoring
 * frames that no hook was ever seen to push. (Further frames may follow outside: the thread package runs a thread on
 * the stack of another one.)
 *
 * Snapshots show exactly which path a thread is on, and when; samples are fewer, and come in between. So the time on a
 * path is divided among the places in its code by the samples of that path, from any thread. Each sample stands for the
 * same time: the one with the least time attributed to it is used first. A path without samples stays as it is. So does
 * one on which hooks have pushed inlined procedures (--hooks all), because these have no frames.
 */
#ifndef QZI_HOOKED_PATHS_H
#define QZI_HOOKED_PATHS_H

#include "call_path.h"

struct qzi_hooked;

struct qzi_hooked *qzi_hooked_open(struct qzi_paths *paths); /* Returns NULL if there is no memory. */
void qzi_hooked_close(struct qzi_hooked *hooked);
/* Adds a sample of that thread; index QZI_NO_THREAD: the thread is unknown. */
void qzi_hooked_add(struct qzi_hooked *hooked, uint32_t index, const struct qzi_walk *walk);
/* Attributes `ns` of work by the thread, whose path is that of `node`, to a sample of that path. Returns the node of
 * the path with the sample's loops and lines, or 0 if there is no sample. *instruction receives the address of the
 * sampled instruction and *entry that of its procedure; both are 0 if it is not in the program's own code. */
uint32_t qzi_hooked_executed(struct qzi_hooked *hooked, uint32_t index, uint32_t node, uint64_t ns,
                             uint64_t *instruction, uint64_t *entry);

#endif
