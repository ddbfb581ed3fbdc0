/* The latest samples of threads that have ended, by start routine, that little or no time was attributed to. Other
 * threads with the same start routine use them that have executed but have no sample yet.
 *
 * Owns:    those samples.
 * Writer and reader: the aggregating thread, through snapshot/samples/tracked_samples.c.
 *
 * A thread executes for one interval on average before its first sample, and has unused ones when it ends. If threads
 * live for few intervals, both are a large part of what they execute: without this, it would be charged to the start
 * routine itself. If more time has to be attributed than samples stand for (the kernel takes fewer while it makes and
 * ends threads), all of them stand for more.
 */
#ifndef QZI_LEFT_SAMPLES_H
#define QZI_LEFT_SAMPLES_H

#include "sample_queue.h"

#define QZI_LEFT_STARTS 32u /* start routines that are distinguished; of more, those used last */
#define QZI_LEFT_KEPT   16u /* samples of each */

/* All zero: empty. */
struct qzi_left_samples {
  struct qzi_left {
    uint64_t start;                          /* 0: free */
    uint64_t used;                           /* the larger, the later it was used */
    struct qzi_sampled *kept[QZI_LEFT_KEPT]; /* the oldest first */
    uint32_t count;
  } all[QZI_LEFT_STARTS];
  uint64_t uses;
};

/* Takes from that queue, of a thread with that start routine, the samples that stand for more time. */
void qzi_left_samples_keep(struct qzi_left_samples *left, uint64_t start, struct qzi_sample_queue *queue);
/* Takes ownership of a sample of a thread that no snapshot has seen. If its walk is whole, the outermost procedure is
 * the start routine, which is removed from the walk, as in those of known threads. */
void qzi_left_samples_add(struct qzi_left_samples *left, struct qzi_sampled *sampled, uint64_t interval_ns);
/* Attributes time to the one that stands for most. Returns it, or NULL if there is none; valid until the next call. */
const struct qzi_sampled *qzi_left_samples_spend(struct qzi_left_samples *left, uint64_t start, uint64_t ns);
/* One of them, another one for each number; NULL: there is none. Valid until the next call. */
const struct qzi_sampled *qzi_left_samples_any(struct qzi_left_samples *left, uint64_t start, uint64_t number);
void qzi_left_samples_close(struct qzi_left_samples *left);

#endif
