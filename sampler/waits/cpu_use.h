/* How CPU time is used, by samples of running threads: for work, waiting, or hand-overs. If there are more runnable
 * threads than CPUs, only samples show it: a thread that spins uses its whole time slice, and a thread with little work
 * does it and then spins, too.
 *
 * Owns:    the counts in the profile's head (struct qz_cpu_use), and the procedures that were seen to spin.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_CPU_USE_H
#define QZI_CPU_USE_H

#include "sampler/callpath/call_path.h"

#define QZI_SPINNERS 16u

struct qzi_cpu_use {
  uint64_t spinners[QZI_SPINNERS]; /* entries of the program's procedures that were seen to spin; 0: none */
  uint32_t spinner;
};

/* Counts a sample taken at the instruction pc. spins: its thread only waits; walk: its call path, NULL: unknown;
 * runnable: number of runnable threads. */
void qzi_cpu_use_add(struct qzi_cpu_use *use, const struct qzi_interner *in, uint32_t runnable, struct qzi_paths *paths,
                     int spins, uint64_t pc, const struct qzi_walk *walk);

#endif
