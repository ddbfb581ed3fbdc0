/* Loops and source lines executed by threads of the thread package, and unmarked loops in which they only wait. Hooks
 * see none of these. The kernel's samples of the kernel threads that serve as processors show them, as for pthread
 * programs (thread_tracker.h).
 *
 * Owns:    the samples' buffers, and what was last found for each processor.
 * Writer and reader: the aggregating thread.
 * Must not: charge a thread for another thread's loop: a sample counts only if its processor has not switched threads
 * since the snapshot before.
 */
#ifndef QZI_PROCESSOR_LOOPS_H
#define QZI_PROCESSOR_LOOPS_H

#include "sampler/snapshot/snapshot.h"

struct qzi_processor_loops;

/* returns NULL if there is no memory */
struct qzi_processor_loops *qzi_processor_loops_open(struct qzi_sampler *sampler);
void qzi_processor_loops_close(struct qzi_processor_loops *loops);
void qzi_processor_loops_prepare(struct qzi_processor_loops *loops); /* calls qzi_unwinder_prepare */
/* To be called when the rate of the recording is known or has changed. */
void qzi_processor_loops_start(struct qzi_processor_loops *loops);
/* Takes the samples since the last snapshot; to be called after the visits of this one. Returns 0 if no samples are
 * taken, so that the two functions below have no results. */
int qzi_processor_loops_begin(struct qzi_processor_loops *loops, uint64_t now_ns);
/* Time in ns that walks of stacks, and analyses of code, took. */
uint64_t qzi_processor_loops_apart_ns(const struct qzi_processor_loops *loops);
/* Index of the object (waits/external_waits.h) for the loop in which the thread on processor p waits; its path must be
 * known. 0: it may be working. */
uint32_t qzi_processor_loop(struct qzi_processor_loops *loops, uint32_t p);
/* The thread on processor p has worked for `ns`. Returns the node of its path, with loops and lines if a sample of
 * exactly that path has them; *instruction: as for qzi_tracker_executed. */
uint32_t qzi_processor_executed(struct qzi_processor_loops *loops, uint32_t p, uint64_t ns, uint32_t *instruction);

#endif
