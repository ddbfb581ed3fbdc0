/* When to take the next snapshot.
 *
 * Owns:    the division of time into intervals, the random instant in each.
 * Writer and reader: one sampling thread.
 * Must not: know what is sampled.
 *
 * One uniformly random instant in each interval, so that a periodic program can't fall into step
 * (docs/reference/metrics.md, section 6). A snapshot stands for its whole interval, and for those skipped before it:
 * were it for the time since the last instant, late instants would weigh more than early ones, and a program in step
 * with the intervals would be seen wrongly. An instant that has passed is not caught up: the snapshot is taken as soon
 * as possible if its own interval lasts, or the next one does; else the interval is skipped and counted; bursts to
 * catch up would bias.
 */
#ifndef QZI_PACING_H
#define QZI_PACING_H

#include <stdint.h>

struct qzi_pacing {
  uint64_t interval_ns;
  uint64_t start_ns;   /* begin of interval 0 */
  uint64_t tick;       /* interval of the next snapshot */
  uint64_t instant_ns; /* time at which it is due */
  uint64_t skipped;    /* number of intervals without a snapshot */
  uint64_t random[2];
  int spins; /* 1: the thread has a CPU to itself */
};

/* rate_mhz: snapshots per 1000 s, not 0. seed 0: a random one from the system. */
void qzi_pacing_start(struct qzi_pacing *pacing, uint64_t rate_mhz, int spins, uint64_t now_ns, uint64_t seed);
/* The end of the interval that a snapshot at now_ns stands for. */
uint64_t qzi_pacing_covered(const struct qzi_pacing *pacing, uint64_t now_ns);
/* A snapshot was taken at now_ns: selects the instant of the next one. */
void qzi_pacing_next(struct qzi_pacing *pacing, uint64_t now_ns);
/* To be called after qzi_pacing_next: changes the length of intervals from the next one on. */
void qzi_pacing_change(struct qzi_pacing *pacing, uint64_t interval_ns);
/* Waits until the instant has come or *stop is not 0. Returns the time in ns, or 0 if it was stopped. A thread that
 * sets *stop has to wake the waiters (futex_wait.h). */
uint64_t qzi_pacing_wait(const struct qzi_pacing *pacing, _Atomic uint32_t *stop);

#endif
