/* See clock.h. */
#include "clock.h"

#include <pthread.h>
#include <time.h>

#define RATE_NS    UINT64_C(1000000) /* from this time on the rate is known; before, the clock is read */
#define PROMPT     1000u /* ticks: a pair of readings that took longer was interrupted, and is taken again */
#define SCALE_MOST (UINT64_C(1) << 42) /* a tick of 1 us; then 1 ms has 1,000 ticks */
#define TRIES      4

__thread struct qzm_instant qzm_here;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct qzm_instant first; /* ns 0: the counter is not used */

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static struct qzm_instant read_both(void) {
  struct qzm_instant best = {.scale = 0};
  uint64_t least = UINT64_MAX;
  for (int tries = 0; tries < TRIES && least > PROMPT; tries++) {
    uint64_t before = qz_cycles(), ns = clock_ns(), took = qz_cycles() - before;
    if (took >= least) continue;
    least = took;
    best = (struct qzm_instant){.ticks = before + took / 2, .ns = ns};
  }
  return best;
}

static void begin(void) {
  if (qz_cycles_keep_time()) first = read_both();
}

uint64_t qzm_clock_read(void) {
  pthread_once(&once, begin);
  if (!first.ns) return clock_ns();
  struct qzm_instant now = read_both();
  uint64_t ticks = now.ticks - first.ticks, ns = now.ns - first.ns;
  if (ns >= RATE_NS && (int64_t)ticks > 0) {
    unsigned __int128 scale = ((unsigned __int128)ns << 32) / ticks;
    now.scale = scale < SCALE_MOST ? (uint64_t)scale : 0;
    now.most = now.scale ? (RATE_NS << 32) / now.scale : 0;
  }
  qzm_here = now;
  return now.ns;
}
