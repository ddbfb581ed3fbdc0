/* Ticks: for times that are measured to be published, a third of the clock's cost.
 *
 * Owns:    qzi_pub_tick_scale.
 * Writer:  qzi_pub_ticks_calibrate, before anything is published. Reader: whoever measures a wait.
 * Must not: be used for deadlines, or shown as a time of day.
 *
 * They are those of the CPU's counter, or ns, where that is no good or nothing was ever published.
 */
#ifndef QZI_PUBLISH_TICKS_H
#define QZI_PUBLISH_TICKS_H

#include <stdint.h>

extern uint64_t qzi_pub_tick_scale __attribute__((visibility("hidden"))); /* ns in a tick * 2^32; 0: ticks are ns */
/* Calibrated by the channel's thread, whose storing of the flag orders it for those who publish; others may ask, too.
 */
static inline uint64_t qzi_pub_ticks_scale(void) { return __atomic_load_n(&qzi_pub_tick_scale, __ATOMIC_RELAXED); }
/* Two readings of both clocks. What is done in between is free: the second waits for what is missing to a tenth of a
 * millisecond. */
void qzi_pub_ticks_begin(void) __attribute__((visibility("hidden")));
void qzi_pub_ticks_calibrate(void) __attribute__((visibility("hidden")));
uint64_t qzi_pub_clock_ns(void) __attribute__((visibility("hidden")));

static inline uint64_t qzi_pub_cycles(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}
static inline uint64_t qzi_pub_ticks(void) {
  return __builtin_expect(qzi_pub_ticks_scale() != 0, 1) ? qzi_pub_cycles() : qzi_pub_clock_ns();
}
/* From one reading to another. Readings on two CPUs may seem to be out of order. */
static inline uint64_t qzi_pub_ticks_ns(uint64_t from, uint64_t to) {
  uint64_t ticks = (int64_t)(to - from) > 0 ? to - from : 0;
  uint64_t scale = qzi_pub_ticks_scale();
  return scale ? (uint64_t)((unsigned __int128)ticks * scale >> 32) : ticks;
}

#endif
