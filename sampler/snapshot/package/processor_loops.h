/* Loops and source lines that threads of the thread package execute, and loops without a mark in which they only wait:
 * hooks see none of these. The kernel's samples of the kernel threads that are the processors show them, as they do for
 * pthread programs (thread_tracker.h).
 *
 * Owns:    the samples' buffers, and what was found of each processor last.
 * Writer and reader: the aggregating thread.
 * Must not: charge a thread for a loop that another one was in: a sample counts where its processor has not switched
 * threads since the snapshot before.
 */
#ifndef QZI_PROCESSOR_LOOPS_H
#define QZI_PROCESSOR_LOOPS_H

#include "sampler/snapshot/snapshot.h"

struct qzi_processor_loops;

struct qzi_processor_loops *qzi_processor_loops_open(struct qzi_sampler *sampler); /* NULL: no memory */
void qzi_processor_loops_close(struct qzi_processor_loops *loops);
void qzi_processor_loops_prepare(struct qzi_processor_loops *loops); /* qzi_unwinder_prepare */
/* The rate of the recording is known; again where it has changed. */
void qzi_processor_loops_start(struct qzi_processor_loops *loops);
/* Takes the samples since the last snapshot, after the visits of this one. 0: none are taken, so that the two below
 * have nothing to say. */
int qzi_processor_loops_begin(struct qzi_processor_loops *loops, uint64_t now_ns);
/* The loop (waits/external_waits.h) in which the thread waits that processor p was seen to run, its path being known;
 * 0: it may be at work. */
uint32_t qzi_processor_loop(struct qzi_processor_loops *loops, uint32_t p);
/* The thread that processor p was seen to run is at work, and counts as having been for so long. Node of its path, with
 * loops and lines where a sample of that very path has them; *instruction: as qzi_tracker_executed. */
uint32_t qzi_processor_executed(struct qzi_processor_loops *loops, uint32_t p, uint64_t ns, uint32_t *instruction);

#endif
