/* What samples of running threads may cost, with their stack walks. It depends on the program's processor time, not on
 * the number of snapshots: where a sample is expensive (memory that is far away, deep stacks), only one of N is used,
 * and stands for N. The kernel takes as many as before, so that the program is disturbed as before; what is left out is
 * hardly read. N depends on what earlier samples cost, not on what the one at hand shows, so there is no bias.
 *
 * Owns:    struct qzi_sample_pace. Writer and reader: the aggregating thread.
 * Must not: count the analysis of new code (waits/new_code.h), which is done once for each place.
 */
#ifndef QZI_SAMPLE_PACE_H
#define QZI_SAMPLE_PACE_H

#include <stdint.h>
#include "sampler/util/clock.h"

#define QZI_SAMPLES_ONE_OF_MOST 32u

/* All zero: every sample is used. */
struct qzi_sample_pace {
  uint32_t one_of;                         /* N; 0 is the same as 1 */
  uint64_t looked_ns;                      /* when N was last chosen; 0: never */
  uint64_t spent_ns;                       /* CPU time of all samples, as far as it counts as free */
  double cost_ns, elapsed_ns, taken, came; /* recent samples: CPU time, in which time, used, and used or left out */
};

/* Accounts of the aggregating thread, in ns: CPU time, walks, analyses of new code. */
struct qzi_sample_time {
  uint64_t cpu_ns, walks_ns, analyses_ns;
};

/* Before and after the samples since the last snapshot are read. */
static inline struct qzi_sample_time qzi_sample_time(uint64_t walks_ns, uint64_t analyses_ns) {
  return (struct qzi_sample_time){qzi_thread_cpu_ns(), walks_ns, analyses_ns};
}
/* CPU time between these two, without walks and analyses: they have their own budgets (recording/budget.h). Were it
 * part of what a snapshot takes, rarer snapshots would seem to be more expensive, and become rarer still. */
uint64_t qzi_sample_time_own(const struct qzi_sample_time *from, const struct qzi_sample_time *to);

/* Adds a reading that took that time, in which `came` samples were found, of which `taken` were used. spare: 1 if the
 * program leaves a CPU idle. Returns 1 if N has changed. */
int qzi_sample_pace_add(struct qzi_sample_pace *pace, uint64_t now_ns, const struct qzi_sample_time *from,
                        const struct qzi_sample_time *to, uint32_t taken, uint32_t came, int spare);

#endif
