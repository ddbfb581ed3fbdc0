/* Samples that are waiting to be reported. See sample_queue.h. */
#include "sample_queue.h"

#include <stdlib.h>
#include <string.h>

#define DEBT_MOST 4  /* sampling intervals that the last sample of a record may stand for in advance */
#define LATE      4u /* from this number of waiting samples on, the oldest one is used, whichever record it has */

static void drop(struct qzi_sample_queue *queue, uint32_t at) {
  free(queue->kept[at]);
  memmove(queue->kept + at, queue->kept + at + 1, (--queue->count - at) * sizeof *queue->kept);
}

/* Keeps at most one used-up sample of a record: if there is another sample, its time is reduced by the time that the
 * used-up one has been overused. */
static void settle(struct qzi_sample_queue *queue, uint32_t record) {
  for (uint32_t k = 0; k < queue->count; k++) {
    struct qzi_sampled *spent = queue->kept[k];
    if (spent->record != record || spent->left_ns > 0) continue;
    uint32_t next = k + 1;
    while (next < queue->count && queue->kept[next]->record != record) next++;
    if (next == queue->count) return;
    queue->kept[next]->left_ns += spent->left_ns;
    drop(queue, k--);
  }
}

void qzi_sample_queue_add(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t interval_ns) {
  if (queue->count == QZI_SAMPLES_KEPT) { /* more than the thread's processor time uses up, or of too many different
                                             records */
    uint32_t at = 0;
    while (at < queue->count && queue->kept[at]->left_ns > 0) at++;
    if (at < queue->count) queue->kept[at ? 0 : 1]->left_ns += queue->kept[at]->left_ns;
    drop(queue, at < queue->count ? at : 0);
  }
  sampled->left_ns = (int64_t)interval_ns;
  sampled->record = 0;
  queue->kept[queue->count++] = sampled;
  settle(queue, 0);
}

void qzi_sample_queue_label(struct qzi_sample_queue *queue, uint64_t round, uint32_t record, int settled) {
  uint32_t labelled = 0;
  for (uint32_t k = queue->count; k-- > 0 && queue->kept[k]->round == round;) {
    labelled += queue->kept[k]->record != record;
    queue->kept[k]->record = record;
    queue->kept[k]->settled = settled;
  }
  if (labelled) settle(queue, record);
}

struct qzi_sampled *qzi_sample_queue_at(const struct qzi_sample_queue *queue, uint32_t record, uint64_t interval_ns) {
  struct qzi_sampled *same = NULL, *spent = NULL, *unknown = NULL, *any = NULL;
  for (uint32_t k = queue->count; k-- > 0;) { /* backwards, so that each variable ends with the oldest sample of its
                                                 sort */
    struct qzi_sampled *its = queue->kept[k];
    if (its->left_ns <= 0) {
      if (its->record == record && its->left_ns > -DEBT_MOST * (int64_t)interval_ns) spent = its;
      continue;
    }
    any = its;
    if (its->record == record) same = its;
    if (!its->record) unknown = its;
  }
  if (same) return same;
  if (spent) return spent;
  if (unknown) return unknown;
  return any ? any : queue->count ? queue->kept[queue->count - 1] : NULL;
}

struct qzi_sampled *qzi_sample_queue_worked(const struct qzi_sample_queue *queue, uint32_t record,
                                            uint64_t interval_ns) {
  struct qzi_sampled *oldest = NULL, *same = NULL;
  uint32_t waiting = 0;
  for (uint32_t k = queue->count; k-- > 0;) {
    struct qzi_sampled *its = queue->kept[k];
    if (its->left_ns <= 0 || its->polls) continue;
    waiting++;
    oldest = its;
    if (its->record == record) same = its;
  }
  if (waiting >= LATE) return oldest;
  if (same) return same;
  struct qzi_sampled *at = qzi_sample_queue_at(queue, record, interval_ns);
  return at && at->polls && oldest ? oldest : at;
}

void qzi_sample_queue_spend(struct qzi_sample_queue *queue, struct qzi_sampled *sampled, uint64_t ns) {
  sampled->left_ns -= (int64_t)ns;
  if (sampled->left_ns <= 0) settle(queue, sampled->record);
}

void qzi_sample_queue_close(struct qzi_sample_queue *queue) {
  for (uint32_t k = 0; k < queue->count; k++) free(queue->kept[k]);
  queue->count = 0;
}
