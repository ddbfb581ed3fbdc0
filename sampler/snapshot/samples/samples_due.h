/* Whether the kernel takes the samples that it was asked for: one each interval of processor time.
 *
 * Owns:    since when samples are due.
 * Writer and reader: the aggregating thread, through thread_tracker.c.
 * Must not: open or close anything (perf_samples.h does).
 *
 * Now and then, on busy machines, events are there, but never fire (1 of 60 recordings beside 10 other programs, Linux
 * 6.18). What is not noticed would be reported as code that does not run.
 */
#ifndef QZI_SAMPLES_DUE_H
#define QZI_SAMPLES_DUE_H

#include <stdint.h>

enum qzi_samples_come {
  QZI_SAMPLES_COME,
  QZI_SAMPLES_NONE, /* not one, though many are due: the events are to be opened anew */
  QZI_SAMPLES_RARE  /* fewer than half */
};

/* All zero: nothing is due yet. */
struct qzi_samples_due {
  uint64_t run_ns, samples; /* of the recording, when due began */
  uint64_t opened_ns;       /* the former, when events were opened */
  uint32_t opened;          /* anew, so often */
};

/* Due begins, or goes on after a pause. */
void qzi_samples_due_begin(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples);
/* The program has run for run_ns of processor time since the recording began, and `samples` were taken. switches_ns:
 * what of that had no samples to come (switch_time.h), at most. */
enum qzi_samples_come qzi_samples_due(struct qzi_samples_due *due, uint64_t run_ns, uint64_t samples,
                                      uint64_t switches_ns, uint64_t interval_ns);

#endif
