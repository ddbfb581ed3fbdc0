/* What the samples of running threads take of the sampler's CPU time besides walks and analyses of new code, which have
 * their own accounts. It depends on the program's processor time, not on the number of snapshots: were it part of what
 * a snapshot takes, rarer snapshots would seem to be more expensive ones, and become rarer still (recording/budget.h).
 *
 * Owns:    nothing. Caller: the aggregating thread.
 */
#ifndef QZI_SAMPLE_TIME_H
#define QZI_SAMPLE_TIME_H

#include <stdint.h>
#include "sampler/util/clock.h"

#define QZI_SAMPLE_MOST_NS UINT64_C(50000) /* if one seems to have taken longer, the sampler waited for a CPU */

struct qzi_sample_time {
  uint64_t begun_ns, apart_ns;
};

/* Before the samples since the last snapshot are read, and after that. apart_ns: the time of walks and analyses so far.
 * samples: how many there were. Returns what they took. */
static inline struct qzi_sample_time qzi_sample_time_begin(uint64_t apart_ns) {
  return (struct qzi_sample_time){.begun_ns = qzi_clock_ns(), .apart_ns = apart_ns};
}
static inline uint64_t qzi_sample_time_end(struct qzi_sample_time begin, uint64_t apart_ns, uint64_t samples) {
  uint64_t ns = qzi_clock_ns() - begin.begun_ns, others_ns = apart_ns - begin.apart_ns;
  ns = ns > others_ns ? ns - others_ns : 0;
  return ns < samples * QZI_SAMPLE_MOST_NS ? ns : samples * QZI_SAMPLE_MOST_NS;
}

#endif
