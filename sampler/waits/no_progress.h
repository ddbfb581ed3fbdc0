/* Threads that look busy and make no progress: loops on a variable that nobody marked.
 *
 * Owns:    what was seen of one running thread.
 * Writer and reader: the aggregating thread.
 * Must not: mistake work for a loop that waits. The evidence: sample after sample shows registers and stack in a state
 * that was seen before, at the same instruction, while no lock was taken; and the code there is a loop that writes no
 * memory (store_free_loop.h). So nothing that the thread did since has left a trace: it waits for what others write.
 */
#ifndef QZI_NO_PROGRESS_H
#define QZI_NO_PROGRESS_H

#include "sampler/linux/perf_samples.h"

#define QZI_NO_PROGRESS_SEEN 128u

struct qzi_no_progress {
  uint64_t seen[QZI_NO_PROGRESS_SEEN]; /* fingerprints of samples */
  uint64_t word;                       /* of the thread's record, for all of them */
  uint64_t first, last;                /* lowest and highest instruction among them */
  uint64_t loop;                       /* verdict: where the loop begins; 0: it may be at work */
  uint32_t count, matched;             /* seen; of them in a row, seen before */
};
/* One more sample. pid: the program. Returns `loop`. */
uint64_t qzi_no_progress_look(struct qzi_no_progress *stalled, uint32_t pid, uint64_t word,
                              const struct qzi_sample *sample);

#endif
