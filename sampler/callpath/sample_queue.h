/* Samples of one running thread that wait to be reported, and which of them a snapshot reports.
 *
 * Owns:    the walks of those samples.
 * Writer and reader: the aggregating thread, through snapshot/thread_tracker.c.
 *
 * Each sample stands for as much processor time as every other, whenever it is used. Were each used until the next one
 * comes, the last one before a pause would stand for what runs after it, too, and a program whose rhythm is near that
 * of samples would show one of its parts alone. So a sample waits until as much was attributed to the thread. First
 * come those of the same record: taken while the thread was in the same procedures of its hooks and held the same
 * locks. Where none of these is left the last one goes on for some time, of which the next one then stands for that
 * much less. Others wait for their record to be seen again, but not for long: snapshots see a thread more often where
 * it is kept waiting for a CPU than where it runs, and what was sampled elsewhere would never be reported.
 */
#ifndef QZI_SAMPLE_QUEUE_H
#define QZI_SAMPLE_QUEUE_H

#include "call_path.h"

#define QZI_SAMPLES_KEPT 12u

struct qzi_sampled {
  struct qzi_walk walk;
  uint64_t polls;      /* loop that it was found in, where that only polls; else 0 */
  uint64_t round;      /* snapshot before which it came */
  uint64_t number;     /* among those of the recording, from 1 */
  uint32_t record;     /* node of the thread's record then; 0: not known */
  uint8_t kernel;      /* enum qz_kernel */
  int settled;         /* 1: the record was the same before the sample */
  uint32_t from, node; /* node of its path with that record; 0: not made yet */
  int64_t left_ns;     /* processor time that it still stands for; negative: as much too much */
};

/* All zero: empty. In the order in which they came. */
struct qzi_sample_queue {
  struct qzi_sampled *kept[QZI_SAMPLES_KEPT];
  uint32_t count;
};

/* Takes over a sample, of which the walk, polls, round and number are set. */
void qzi_sample_queue_add(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t interval_ns);
/* The thread runs, and its record is this one, in that snapshot: samples that came just before are of it. settled: 1:
 * they can't be older than what it holds. */
void qzi_sample_queue_label(struct qzi_sample_queue *queue, uint64_t round, uint32_t record, int settled);
/* The sample to attribute to a thread with that record; NULL: none. It holds until the next call of any of these. */
struct qzi_sampled *qzi_sample_queue_at(const struct qzi_sample_queue *queue, uint32_t record, uint64_t interval_ns);
/* The sample by which a thread with that record counts as having worked; it may be of another record. It holds as long.
 */
struct qzi_sampled *qzi_sample_queue_worked(const struct qzi_sample_queue *queue, uint32_t record,
                                            uint64_t interval_ns);
/* So much was reported by it. */
void qzi_sample_queue_spend(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t ns);
void qzi_sample_queue_close(struct qzi_sample_queue *queue);

#endif
