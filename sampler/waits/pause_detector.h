/* Threads that signal to the processor that they wait: a sample finds them at the instruction for that purpose (x86:
 * pause; Arm: yield, isb), which has no other use. This detects loops that do more than poll_loop.h recognizes: those
 * with back-off, and those of OpenMP and other run-time libraries.
 *
 * Owns:    what was last seen of one running thread, and the verdicts on sampled instructions.
 * Writer and reader: the aggregating thread.
 * Must not: mistake work that a waiting library executes for the program (tasks) for waiting.
 *
 * What takes a lock of OpenMP waits, too, but the pthread layer says so itself: such a sample shows nothing here.
 *
 * A sample counts until the next one, unless the thread's record changes. If the procedure with the pause is a
 * library's, it counts as waiting as long as it is active, except while it calls code outside itself and the C
 * library.
 */
#ifndef QZI_PAUSE_DETECTOR_H
#define QZI_PAUSE_DETECTOR_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"

struct qzi_pause_detector {
  uint64_t pause;       /* place of the pause at the last sample, or the last pause of the procedure that the sample was
                           in; 0: the thread may be working */
  uint64_t word;        /* packed word of the thread's record at that time */
  uint64_t path, waits; /* path: hash of the procedures on the walk when a library's code was last seen to pause; waits:
                           where it paused */
  uint32_t depth;       /* number of those procedures; 0: none */
};
#define QZI_PAUSE_KNOWN_BITS 12
/* Whether sampled instructions are pauses. Each is read once from the program; zero at first. */
struct qzi_pause_known {
  uint64_t places[1u << QZI_PAUSE_KNOWN_BITS]; /* address << 2 | verdict (pause_detector.c); 0: none */
};
/* Adds a sample and its walk (NULL: none). pid: the program. */
void qzi_pause_detector_look(struct qzi_pause_detector *pausing, struct qzi_pause_known *known, uint32_t pid,
                             uint64_t word, const struct qzi_sample *sample, struct qzi_paths *paths,
                             const struct qzi_walk *walk);
/* Where the thread waits, if the packed word of its record is still `word`; 0: it may be working. */
uint64_t qzi_pause_detector_at(const struct qzi_pause_detector *pausing, uint64_t word);

#endif
