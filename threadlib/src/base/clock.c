/* Time: the monotonic clock, and conversion of absolute times of other clocks to it.
 *
 * Owns:    nothing.
 * Must not: be used in a switch or on any other path whose cost is counted in nanoseconds.
 */
#include "clock.h"

#include <errno.h>

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t qzi_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

int qzi_deadline(int clock, const struct timespec *time, uint64_t *monotonic_ns) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  if (!time || time->tv_nsec < 0 || time->tv_nsec > 999999999) return EINVAL;
  if (time->tv_sec < 0) {
    *monotonic_ns = 0;
    return 0;
  }
  if ((uint64_t)time->tv_sec >
      UINT64_C(9000000000)) { /* farther in the future than any program runs, and avoids an overflow */
    *monotonic_ns = QZI_NEVER - 1;
    return 0;
  }
  uint64_t then = (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
  if (clock == CLOCK_REALTIME) {
    uint64_t real = clock_ns(CLOCK_REALTIME), mono = clock_ns(CLOCK_MONOTONIC);
    then = then > real ? mono + (then - real) : 0;
  }
  *monotonic_ns = then;
  return 0;
}
