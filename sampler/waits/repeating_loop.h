/* Threads in a loop that carries no values from one iteration to the next (stateless_loop.h): they wait for what others
 * write, however much the loop computes. Samples show that they stay in it: several in a row are in the same call of
 * the same loop, because everything that the loop does not change, registers and stack, is the same; and no value that
 * it changes only grows or only shrinks, as it would in one long pass over an array. Code that calls the loop again and
 * again leaves a trace: a count, a return address.
 *
 * Owns:    what was last seen of one running thread, and the verdicts on loops.
 * Writer and reader: the aggregating thread.
 * Must not: mistake work for a loop that waits. If the loop's frame can't be found, the loop counts as work.
 */
#ifndef QZI_REPEATING_LOOP_H
#define QZI_REPEATING_LOOP_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/loops/stateless_loop.h"
#include "new_code.h"

#define QZI_STATELESS_BITS        12
#define QZI_REPEATING_LOOP_VALUES (16u + QZI_STATELESS_SLOTS)

struct qzi_repeating_loop {
  uint64_t loop, print; /* loop of the last sample, and hash of what the loop does not change */
  uint32_t rounds;      /* number of samples in a row */
  int repeats;          /* verdict on these samples: 1: the loop waits */
  struct {
    uint64_t last;
    uint8_t rose, fell;
  } values[QZI_REPEATING_LOOP_VALUES]; /* values that the loop changes: registers, slots of its frame */
  uint32_t places; /* number of elements of `place`: the last sample's instruction and its callers; code far from
                      these is not analysed, to save time */
  uint64_t place[1 + QZI_CALLERS];
};
struct qzi_stateless_known {
  struct qzi_new_code *new_code; /* NULL: analyses take the time that they need */
  struct {
    uint64_t seen;
    struct qzi_stateless its;
  } known[1u << QZI_STATELESS_BITS]; /* seen: address of the instruction, and whether it is framed; 0: none */
};

/* Adds a sample that no other detector explains, and its walk (NULL: unknown). Returns where the loop begins in which
 * the thread waits; 0: it may be working. pid: the program. */
uint64_t qzi_repeating_loop_look(struct qzi_repeating_loop *repeating, struct qzi_stateless_known *known,
                                 struct qzi_paths *paths, uint32_t pid, const struct qzi_sample *sample,
                                 const struct qzi_walk *walk);

#endif
