/* Cost of the kernel's timer for samples when a thread gets its CPU from something other than a thread of its own
 * program.
 *
 * Owns:    how often that happened, and the cost of each time.
 * Writer:  the control thread. Reader: the sampling thread, which writes it into the profile.
 * Must not: measure if the cost can't matter; take more than some milliseconds.
 *
 * The kernel starts the timer when such a thread begins to run, and stops it when the thread stops
 * (docs/evidence/pthread-layer.md, "What it costs"). The kernel counts how often threads get a CPU, but not from whom.
 * Therefore the number is derived from the context switches of the whole machine: one for each turn of the program's
 * threads and two for each of the sampler's are subtracted; the rest belongs to the idle threads and to other programs,
 * and each of these switches is next to a turn of the program, as long as there are enough turns.
 */
#ifndef QZI_PERF_TIMER_COST_H
#define QZI_PERF_TIMER_COST_H

#include <stdint.h>

struct qzi_timer_cost {
  int begun, measured;
  uint64_t machine, own, program, samples; /* values at the last reading */
  _Atomic uint64_t taken;                  /* samples so far by events of threads, written by the sampling thread */
  _Atomic uint64_t count;                  /* turns that began after something else, while samples were taken */
  _Atomic uint64_t each_ns;                /* ns; 0: not measured */
};

/* program: number of turns, run_ns: processor time in ns of the program's threads so far. */
void qzi_timer_cost_note(struct qzi_timer_cost *cost, uint64_t program, uint64_t run_ns);

#endif
