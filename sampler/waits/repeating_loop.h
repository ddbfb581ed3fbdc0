/* Threads in a loop that carries nothing from one iteration to the next (stateless_loop.h): they wait for what others
 * write, however much the loop computes. Samples show that they stay in it: several in a row are in the same call of
 * the same loop, since everything that the loop does not change, registers and stack, is as it was; and no value that
 * it changes only grows or only shrinks, as on one long pass over an array. Code that calls the loop again and again
 * leaves a trace: a count, a return address.
 *
 * Owns:    what was seen of one running thread last, and the verdicts on loops.
 * Writer and reader: the aggregating thread.
 * Must not: mistake work for a loop that waits. Where the loop's frame can't be distinguished, it is at work.
 */
#ifndef QZI_REPEATING_LOOP_H
#define QZI_REPEATING_LOOP_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/loops/stateless_loop.h"

#define QZI_STATELESS_BITS        8
#define QZI_REPEATING_LOOP_VALUES (16u + QZI_STATELESS_SLOTS)

struct qzi_repeating_loop {
  uint64_t loop, print; /* where the last sample was, and what the loop leaves alone there */
  uint32_t rounds;      /* samples in a row */
  int repeats;          /* verdict on these */
  struct {
    uint64_t last;
    uint8_t rose, fell;
  } values[QZI_REPEATING_LOOP_VALUES]; /* what the loop changes: registers, slots of its frame */
  uint32_t places; /* where it was then, and its callers: code far from that is not looked at, for it takes time */
  uint64_t place[1 + QZI_CALLERS];
};
struct qzi_stateless_known {
  struct {
    uint64_t seen;
    struct qzi_stateless its;
  } known[1u << QZI_STATELESS_BITS]; /* seen: instruction and whether framed; 0: none */
};

/* One more sample, which no poll explains, and its walk (NULL: not known). Where the loop begins in which the thread
 * waits; 0: it may be at work. pid: the program. */
uint64_t qzi_repeating_loop_look(struct qzi_repeating_loop *repeating, struct qzi_stateless_known *known,
                                 struct qzi_paths *paths, uint32_t pid, const struct qzi_sample *sample,
                                 const struct qzi_walk *walk);

#endif
