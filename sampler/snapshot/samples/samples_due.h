/* Whether the kernel takes the samples that it should: one in each interval of processor time.
 *
 * Owns:    the beginning of the time in which samples are due.
 * Writer and reader: the aggregating thread, through thread_tracker.c.
 * Must not: open or close events (perf_samples.h does).
 *
 * Occasionally, on busy machines, events exist but never fire (1 of 60 recordings beside 10 other programs, Linux
 * 6.18). If this were not noticed, code would be reported as not running.
 */
#ifndef QZI_SAMPLES_DUE_H
#define QZI_SAMPLES_DUE_H

#include <stdint.h>

enum qzi_samples_come {
  QZI_SAMPLES_COME,
  QZI_SAMPLES_NONE, /* none came although many are due: the events must be opened again */
  QZI_SAMPLES_RARE  /* fewer than half of those that are due came */
};

/* All zero: no samples are due yet. */
struct qzi_samples_due {
  uint64_t run_ns, samples; /* of the recording, when samples began to be due */
  uint64_t opened_ns;       /* run_ns when the events were opened */
  uint32_t opened;          /* how often they were opened again */
};

/* To be called when samples begin to be due, or are due again after a pause. */
void qzi_samples_due_begin(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples);
/* run_ns: processor time of the program since the recording began; `samples`: number of samples taken; switches_ns:
 * upper bound of the part of run_ns in which no samples can come (switch_time.h). */
enum qzi_samples_come qzi_samples_due(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples,
                                      uint64_t switches_ns, uint64_t interval_ns);

#endif
