/* See switch_time.h. */
#include "switch_time.h"

#define PART 16u /* a thread matters if this time is at least 1/PART of its processor time */

static int64_t missing(const struct qzi_switch_times *all, const struct qzi_switch_time *its) {
  return (int64_t)its->ran_ns - (int64_t)(its->samples * all->interval_ns);
}

/* Adds the thread to the sums (sign 1), or subtracts it (sign -1). */
static void sum(struct qzi_switch_times *all, const struct qzi_switch_time *its, int sign) {
  if (!its->matters) return;
  all->missing_ns += sign * missing(all, its);
  all->switches += (uint64_t)sign * its->switched;
}

void qzi_switch_time_read(struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t run_ns,
                          uint64_t dispatches, int aside) {
  if (!its->known && !aside) its->run_ns = its->dispatches = 0;
  int forward = !aside && run_ns >= its->run_ns && dispatches >= its->dispatches;
  sum(all, its, -1);
  if (forward) {
    its->ran_ns += run_ns - its->run_ns;
    its->switched += dispatches - its->dispatches;
  }
  its->run_ns = run_ns;
  its->dispatches = dispatches;
  its->known = 1;
  its->matters = its->switched * all->most_ns > its->ran_ns / PART;
  sum(all, its, 1);
}

void qzi_switch_time_sampled(struct qzi_switch_times *all, struct qzi_switch_time *its, uint32_t stands) {
  its->samples += stands;
  if (its->matters) all->missing_ns -= (int64_t)(stands * all->interval_ns);
}

int qzi_switch_time_take(const struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t ns) {
  if (!its->matters || !all->interval_ns || all->missing_ns <= 0 || !all->switches) return 0;
  double each_ns = (double)all->missing_ns / (double)all->switches;
  if (each_ns > (double)all->most_ns) each_ns = (double)all->most_ns;
  if ((double)its->switched * each_ns < (double)(its->attributed_ns + ns)) return 0;
  its->attributed_ns += ns;
  return 1;
}
