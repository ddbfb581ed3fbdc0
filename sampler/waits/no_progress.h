/* Threads that look busy but make no progress: loops on a variable without a mark of Quartz.
 *
 * Owns:    what was seen of one running thread.
 * Writer and reader: the aggregating thread.
 * Must not: mistake work for a loop that waits.
 *
 * The evidence: several samples in a row find registers and stack in a state that was seen before, at the same
 * instruction, while no lock was taken; and the code there is a loop that writes no memory (store_free_loop.h). So the
 * thread has left no trace of work: it waits for what other threads write.
 */
#ifndef QZI_NO_PROGRESS_H
#define QZI_NO_PROGRESS_H

#include "sampler/linux/perf_samples.h"

#define QZI_NO_PROGRESS_SEEN 128u

struct qzi_no_progress {
  uint64_t seen[QZI_NO_PROGRESS_SEEN]; /* fingerprints of samples */
  uint64_t word;                       /* packed word of the thread's record, the same at all of them */
  uint64_t first, last;                /* lowest and highest instruction among them */
  uint64_t loop;                       /* where the loop begins; 0: the thread may be working */
  uint32_t count, matched;             /* number of samples; number of those in a row whose state was seen before */
};
/* Adds a sample. pid: the program. Returns `loop`. */
uint64_t qzi_no_progress_look(struct qzi_no_progress *stalled, uint32_t pid, uint64_t word,
                              const struct qzi_sample *sample);

#endif
