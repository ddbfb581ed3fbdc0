/* What the kernel's timer for samples of running threads takes when a thread gets a CPU from someone else than a thread
 * of its own program.
 *
 * Owns:    how often that happened, and what it takes each time.
 * Writer:  the control thread. Reader: the sampling thread, which writes it into the profile.
 * Must not: measure anything where it can't matter; take more than some milliseconds.
 *
 * The kernel starts the timer when such a thread begins to run, and stops it when it stops
 * (docs/evidence/pthread-layer.md, "What it costs"). It counts turns, but not whose CPU it was: the switches of the
 * whole machine are known. Of these, one is for each turn of the program, and two for each of the sampler; what is left
 * are the idle CPUs' and other programs', and each of these comes before or after a turn of the program, as far as
 * there are so many.
 */
#ifndef QZI_PERF_TIMER_COST_H
#define QZI_PERF_TIMER_COST_H

#include <stdint.h>

struct qzi_timer_cost {
  int begun, measured;
  uint64_t machine, own, program, samples; /* at the last reading */
  _Atomic uint64_t taken;                  /* samples so far by events of threads; the sampling thread's */
  _Atomic uint64_t count;                  /* turns that came from elsewhere, while samples were taken */
  _Atomic uint64_t each_ns;                /* 0: not measured */
};

/* program, run_ns: turns and processor time of the program's threads so far. */
void qzi_timer_cost_note(struct qzi_timer_cost *cost, uint64_t program, uint64_t run_ns);

#endif
