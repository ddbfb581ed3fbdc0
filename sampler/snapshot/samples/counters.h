/* Events that the processor counts for the program's threads: cycles, completed instructions, cache misses; and page
 * faults, which the kernel counts on every machine.
 *
 * Owns:    the counters' events, and their counts (profile/counted.h).
 * Writer and reader: the aggregating thread.
 * Must not: prevent recording: counters that the machine does not have, or that may not be read, are left out.
 *
 * Each counter takes a sample after a fixed number of events, which stands for that number: sums over many samples are
 * correct whatever the threads do. If each CPU has an event for the program only, samples that were lost because a
 * buffer was full count with the next one.
 */
#ifndef QZI_COUNTERS_H
#define QZI_COUNTERS_H

#include "sampler/linux/perf_samples.h"
#include "sampler/profile/counted.h"

struct qzi_counters {
  struct qzi_running *events[QZ_COUNTER_COUNT]; /* NULL: not counted */
  struct qzi_counted counted;
  struct qzi_sample sample;
};

/* The event for each counter. */
extern const struct qzi_event qzi_counter_events[QZ_COUNTER_COUNT];

/* Begins to count; may be called once. */
void qzi_counters_open(struct qzi_counters *counters, struct qzi_file *file);
void qzi_counters_close(struct qzi_counters *counters);
/* To be called when a thread is seen for the first time, and when it has ended. */
void qzi_counters_begin(struct qzi_counters *counters, uint32_t tid);
void qzi_counters_end(struct qzi_counters *counters, uint32_t tid);
/* Reads all samples until now; node_of returns the node of a sample's path, 0: unknown. */
void qzi_counters_read(struct qzi_counters *counters,
                       uint32_t (*node_of)(void *context, const struct qzi_sample *sample), void *context);

#endif
