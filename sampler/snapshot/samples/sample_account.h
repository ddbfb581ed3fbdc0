/* Accounts for the samples of running threads that were read since the last snapshot.
 *
 * Owns:    nothing. Caller: the aggregating thread, once they are read.
 */
#ifndef QZI_SAMPLE_ACCOUNT_H
#define QZI_SAMPLE_ACCOUNT_H

#include "sample_pace.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/snapshot/sampler_state.h"

/* from, to: before and after it; taken: how many were used, which are counted in the profile already. spare: as for
 * qzi_sample_pace_add. */
static inline void qzi_sample_account(struct qzi_sampler *sampler, struct qzi_running *running,
                                      struct qzi_sample_pace *pace, const struct qzi_sample_time *from,
                                      const struct qzi_sample_time *to, uint32_t taken, uint64_t now_ns, int spare) {
  uint32_t left_out = qzi_running_left_out(running);
  sampler->file->head->samples += left_out;
  if (!qzi_running_whole(running)) sampler->timed_samples += taken + left_out;
  sampler->samples_ns += qzi_sample_time_own(from, to);
  if (qzi_sample_pace_add(pace, now_ns, from, to, taken, taken + left_out, spare))
    qzi_running_thin(running, pace->one_of);
}

#endif
