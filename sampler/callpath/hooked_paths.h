/* Paths that hooks have made, with what samples say of the code that they are in: loops and source lines.
 *
 * Owns:    the last samples of each path.
 * Writer and reader: the aggregating thread.
 * Must not: change which procedures are on a path; join it with a sample of other procedures. What the hooks of a
 * thread have pushed, from its start routine on, must be the innermost frames of the sample, those left out that no
 * hook was ever seen to push. (The frames may go on further out: the thread package runs a thread on the stack of
 * another one.)
 *
 * Snapshots say exactly on which path a thread is, and when; samples are fewer, and come in between. So time on a path
 * is divided among the places in its code by the samples of that path, from any thread. Each sample stands for as much
 * time as every other: the one that has stood for least is used first. A path without samples stays as it is. So does
 * one on which hooks have pushed what is inlined (--hooks all): there is no frame for that.
 */
#ifndef QZI_HOOKED_PATHS_H
#define QZI_HOOKED_PATHS_H

#include "call_path.h"

struct qzi_hooked;

struct qzi_hooked *qzi_hooked_open(struct qzi_paths *paths); /* NULL: no memory */
void qzi_hooked_close(struct qzi_hooked *hooked);
/* A sample of that thread; index QZI_NO_THREAD: it is not known of which one. */
void qzi_hooked_add(struct qzi_hooked *hooked, uint32_t index, const struct qzi_walk *walk);
/* The thread, whose path is that of `node`, has worked for so long. The node of that path with loops and lines of a
 * sample, and *instruction: the address where that was, *entry: that of its procedure; 0: not in the program's own
 * code. 0: there is no sample of that path. */
uint32_t qzi_hooked_executed(struct qzi_hooked *hooked, uint32_t index, uint32_t node, uint64_t ns,
                             uint64_t *instruction, uint64_t *entry);

#endif
