/* Samples of one running thread that are waiting to be reported, and the choice of the one that a snapshot reports.
 *
 * Owns:    the walks of those samples.
 * Writer and reader: the aggregating thread, through snapshot/thread_tracker.c.
 *
 * Each sample stands for the same processor time, whenever it is used. If a sample were used until the next one
 * arrives, the last one before a pause would also stand for the work after the pause, and a program with a rhythm close
 * to that of the samples would show only one of its parts. So a sample waits until as much time has been attributed to
 * the thread. Samples with the same record are used first: those taken while the thread was in the same procedures of
 * its hooks and held the same locks. If none is left, the last one is used for some more time, which is subtracted from
 * the next one. Samples with other records wait until their record is seen again, but not for long: snapshots see a
 * thread more often where it waits for a CPU than where it runs, and samples from elsewhere would never be reported.
 */
#ifndef QZI_SAMPLE_QUEUE_H
#define QZI_SAMPLE_QUEUE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "call_path.h"

#define QZI_SAMPLES_KEPT 12u

struct qzi_sampled {
  uint64_t polls;      /* address of the loop that it was found in, if that only polls; else 0 */
  uint64_t round;      /* number of the snapshot before which it was taken */
  uint64_t number;     /* number of the sample in the recording, from 1 */
  uint32_t record;     /* node of the thread's record at that time; 0: unknown */
  uint8_t kernel;      /* enum qz_kernel */
  int settled;         /* 1: the thread had the same record before the sample */
  uint32_t from, node; /* node: its path with the record `from`; 0: not made yet */
  int64_t left_ns;     /* processor time in ns that it still stands for; negative: it was overused by that much */
  struct qzi_walk walk;
};
/* A sample without a walk; NULL: there is no memory. The memory of the walk's entries is not touched, as there may be
 * much of it that is in no cache. */
static inline struct qzi_sampled *qzi_sampled_make(void) {
  struct qzi_sampled *sampled = malloc(sizeof *sampled);
  if (sampled) memset(sampled, 0, offsetof(struct qzi_sampled, walk.entries));
  return sampled;
}

/* All zero: empty. Samples are in the order of their arrival. */
struct qzi_sample_queue {
  struct qzi_sampled *kept[QZI_SAMPLES_KEPT];
  uint32_t count;
};

/* Takes ownership of a sample, whose members walk, polls, round and number are set. */
void qzi_sample_queue_add(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t interval_ns);
/* Sets the record of the samples taken just before snapshot `round`, in which the thread was running with this record.
 * settled: 1 if they can't be older than the locks in it. */
void qzi_sample_queue_label(struct qzi_sample_queue *queue, uint64_t round, uint32_t record, int settled);
/* The sample to attribute time to for a thread with that record; NULL: none. Valid until the next call of any of these
 * functions. */
struct qzi_sampled *qzi_sample_queue_at(const struct qzi_sample_queue *queue, uint32_t record, uint64_t interval_ns);
/* The sample by which a thread with that record counts as having worked; it may have another record. Valid as long. */
struct qzi_sampled *qzi_sample_queue_worked(const struct qzi_sample_queue *queue, uint32_t record,
                                            uint64_t interval_ns);
/* The sample that was taken last; NULL: none. Valid as long. */
static inline struct qzi_sampled *qzi_sample_queue_newest(const struct qzi_sample_queue *queue) {
  return queue->count ? queue->kept[queue->count - 1] : NULL;
}
/* Subtracts the reported time from what the sample stands for, which may free the sample. */
void qzi_sample_queue_spend(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t ns);
void qzi_sample_queue_close(struct qzi_sample_queue *queue);

#endif
