/* What the processor counts for the program's threads: cycles, finished instructions, misses; and page faults, which
 * the kernel counts on every machine.
 *
 * Owns:    the counters' events, and what was counted (profile/counted.h).
 * Writer and reader: the aggregating thread.
 * Must not: be a reason not to record: what nothing counts here, or may not be read, is left out.
 *
 * Each event has a sample taken after a fixed number, which stands for that number: sums over many are right whatever
 * the threads do. Where each CPU has an event of the program alone, samples for which there was no room count with the
 * next one.
 */
#ifndef QZI_COUNTERS_H
#define QZI_COUNTERS_H

#include "sampler/linux/perf_samples.h"
#include "sampler/profile/counted.h"

struct qzi_counters {
  struct qzi_running *events[QZ_COUNTER_COUNT]; /* NULL: it is not counted */
  struct qzi_counted counted;
  struct qzi_sample sample;
};

/* Which one the processor or kernel counts so. */
extern const struct qzi_event qzi_counter_events[QZ_COUNTER_COUNT];

/* Begins to count; at most once. */
void qzi_counters_open(struct qzi_counters *counters, struct qzi_file *file);
void qzi_counters_close(struct qzi_counters *counters);
/* A thread was seen for the first time; it ended. */
void qzi_counters_begin(struct qzi_counters *counters, uint32_t tid);
void qzi_counters_end(struct qzi_counters *counters, uint32_t tid);
/* All samples until now; node_of gives the path that one is of, 0: not known. */
void qzi_counters_read(struct qzi_counters *counters,
                       uint32_t (*node_of)(void *context, const struct qzi_sample *sample), void *context);

#endif
