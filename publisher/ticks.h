/* Ticks: measurement of published times at a third of the cost of the clock.
 *
 * Owns:    qzi_pub_tick_scale.
 * Writer:  qzi_pub_ticks_calibrate, before anything is published. Reader: code that measures waits.
 * Must not: be used for deadlines, or shown as a time of day.
 *
 * Ticks are those of the CPU's counter, or ns if the counter cannot be used or nothing was ever published.
 */
#ifndef QZI_PUBLISH_TICKS_H
#define QZI_PUBLISH_TICKS_H

#include <stdint.h>
#include "abi/cycles.h"

extern uint64_t qzi_pub_tick_scale __attribute__((visibility("hidden"))); /* ns in a tick * 2^32; 0: ticks are ns */
/* The channel's thread calibrates it and then stores the flag, which orders it for publishing threads; other threads
 * may call this, too.
 */
static inline uint64_t qzi_pub_ticks_scale(void) { return __atomic_load_n(&qzi_pub_tick_scale, __ATOMIC_RELAXED); }
/* Two readings of both clocks. The time between them need not be spent waiting: the second function waits only for
 * what is missing to 0.1 ms. */
void qzi_pub_ticks_begin(void) __attribute__((visibility("hidden")));
void qzi_pub_ticks_calibrate(void) __attribute__((visibility("hidden")));
uint64_t qzi_pub_clock_ns(void) __attribute__((visibility("hidden")));
/* The ticks at a time of the clock (CLOCK_MONOTONIC), which is not long ago. */
uint64_t qzi_pub_ticks_at(uint64_t ns) __attribute__((visibility("hidden")));

static inline uint64_t qzi_pub_ticks(void) {
  return __builtin_expect(qzi_pub_ticks_scale() != 0, 1) ? qz_cycles() : qzi_pub_clock_ns();
}
/* Converts the time between two readings to ns. Readings on two CPUs may seem to be out of order; then it is 0. */
static inline uint64_t qzi_pub_ticks_ns(uint64_t from, uint64_t to) {
  uint64_t ticks = (int64_t)(to - from) > 0 ? to - from : 0;
  uint64_t scale = qzi_pub_ticks_scale();
  return scale ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}
/* Converts ns to ticks. */
static inline uint64_t qzi_pub_ticks_of(uint64_t ns) {
  uint64_t scale = qzi_pub_ticks_scale();
  return scale ? (uint64_t)(((unsigned __int128)ns << 32) / scale) : ns;
}

#endif
