/* The length of a tick (ticks.h). */
#include "ticks.h"
#include "flag.h"

#define CALIBRATION_NS 100000u /* minimum; the two clocks are read within a few ns of each other: error 10^-4 */

QZI_READ_OFTEN uint64_t qzi_pub_tick_scale;

/* Readings of both clocks, at the same instant as nearly as possible. */
struct instant {
  uint64_t ticks, ns;
};
static struct instant instant(void) {
  struct instant best = {0, 0};
  uint64_t least = UINT64_MAX;
  for (int tries = 0; tries < 8; tries++) {
    uint64_t before = qz_cycles(), ns = qzi_pub_clock_ns(), took = qz_cycles() - before;
    if (took >= least) continue;
    least = took;
    best = (struct instant){before + took / 2, ns};
  }
  return best;
}

static struct instant first; /* ns 0: the counter cannot be used, or qzi_pub_ticks_begin was not called */

void qzi_pub_ticks_begin(void) {
  if (!qzi_pub_ticks_scale() && qz_cycles_keep_time()) first = instant();
}

void qzi_pub_ticks_calibrate(void) {
  if (qzi_pub_ticks_scale() || !first.ns) return;
  while (qzi_pub_clock_ns() - first.ns < CALIBRATION_NS) {}
  struct instant last = instant();
  uint64_t ticks = last.ticks - first.ticks;
  if ((int64_t)ticks <= 0) return;
  uint64_t scale = (uint64_t)(((unsigned __int128)(last.ns - first.ns) << 32) / ticks);
  __atomic_store_n(&qzi_pub_tick_scale, scale, __ATOMIC_RELAXED);
}

uint64_t qzi_pub_ticks_at(uint64_t ns) {
  uint64_t scale = qzi_pub_ticks_scale();
  if (!scale) return ns;
  struct instant now = instant();
  uint64_t since = ns > now.ns ? ns - now.ns : now.ns - ns,
           ticks = (uint64_t)(((unsigned __int128)since << 32) / scale);
  return ns > now.ns ? now.ticks + ticks : now.ticks - ticks;
}
