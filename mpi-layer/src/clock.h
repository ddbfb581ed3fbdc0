/* The clock of the log: CLOCK_MONOTONIC, so that ranks of one host share it. Where the kernel keeps that time by the
 * CPU's counter, a reading of the counter stands for one of the clock, at a third of its cost: each thread reads both
 * again after 1 ms, and in between counts on from there.
 *
 * Owns:    each thread's last reading of both clocks, and the process's first one.
 * Writer and reader: threads of the program. Safe in any thread, not in signal handlers.
 * Must not: differ from the clock by more than a microsecond: 1 ms at the rate of the whole run so far, which the
 * kernel corrects by at most 500 millionths.
 *
 * Readings of one thread may be out of order by that much; qzm_between says 0 then.
 */
#ifndef QZM_CLOCK_H
#define QZM_CLOCK_H

#include <stdint.h>
#include "abi/cycles.h"

/* A thread's last reading of both clocks. scale: ns in a tick * 2^32. most: for how many ticks it counts; 0: not at
 * all. */
struct qzm_instant {
  uint64_t ticks, ns, scale, most;
};
extern __thread struct qzm_instant qzm_here __attribute__((visibility("hidden")));

/* Reads both clocks again. Returns the time in ns. */
uint64_t qzm_clock_read(void) __attribute__((visibility("hidden")));

/* The time in ns of CLOCK_MONOTONIC. */
static inline uint64_t qzm_now(void) {
  uint64_t since = qz_cycles() - qzm_here.ticks;
  if (__builtin_expect(since >= qzm_here.most, 0)) return qzm_clock_read();
  return qzm_here.ns + (since * qzm_here.scale >> 32);
}

/* The time from one reading to another in ns; 0 if the second one is earlier. */
static inline uint64_t qzm_between(uint64_t from_ns, uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; }

#endif
