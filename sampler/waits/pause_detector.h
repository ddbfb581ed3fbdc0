/* Threads that signal to the processor that they wait: a sample is at the instruction for that (x86: pause; Arm: yield,
 * isb), which is in no other use. This finds loops that do more than poll_loop.h recognizes: those that back off, and
 * those of OpenMP and other run-time libraries.
 *
 * Owns:    what was seen of one running thread last.
 * Writer and reader: the aggregating thread.
 * Must not: take what a waiting library runs for the program (tasks) for waiting.
 *
 * A sample stands for the time up to the next one, unless the thread's record changes. Where a library waits so, its
 * procedure waits as long as it goes on, but for what it calls outside itself and the C library.
 */
#ifndef QZI_PAUSE_DETECTOR_H
#define QZI_PAUSE_DETECTOR_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"

struct qzi_pause_detector {
  uint64_t pause; /* where the last sample was, or the procedure last paused that it was in; 0: it may be at work */
  uint64_t word;  /* of the thread's record, then */
  uint64_t path,
    waits;        /* procedures of the walk when a library's code was last seen to pause (their print), and where */
  uint32_t depth; /* how many they are; 0: none */
};
/* One more sample, and its walk (NULL: none). pid: the program. */
void qzi_pause_detector_look(struct qzi_pause_detector *pausing, uint32_t pid, uint64_t word,
                             const struct qzi_sample *sample, struct qzi_paths *paths, const struct qzi_walk *walk);
/* Where the thread waits, if its record still is as `word`; 0: it may be at work. */
uint64_t qzi_pause_detector_at(const struct qzi_pause_detector *pausing, uint64_t word);

#endif
