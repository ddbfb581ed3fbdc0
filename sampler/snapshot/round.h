/* The last steps of both kinds of snapshot: room for the whole snapshot, its balance and its time line. See
 * snapshot.h. */
#ifndef QZI_ROUND_H
#define QZI_ROUND_H

#include "snapshot.h"

/* Adding a snapshot. After the tuples of its observations were found, qzi_snapshot_begin finds room for the rest and
 * gives the weight (-1: no room, nothing was added); then the tuples are added; qzi_snapshot_end adds balance and
 * timeline, and makes the snapshot count. */
struct qzi_counts {
  unsigned useful, overhead, spinning, running;
  uint32_t runnable;
  uint64_t retries, torn, invalid;
  int first, more;   /* 1: a snapshot's first part; a part other than its last one */
  uint64_t whole_ns; /* weight of the whole snapshot if it has parts; else 0 */
  uint32_t balance;  /* set by qzi_snapshot_begin */
};
static inline int qzi_snapshot_begin(struct qzi_sampler *sampler, uint64_t now_ns, struct qzi_counts *counts,
                                     uint64_t *ns) {
  struct qz_profile *head = sampler->file->head;
  counts->balance =
    qzi_balance_find(&sampler->tuples, counts->useful + counts->overhead, counts->spinning, counts->runnable);
  if (!counts->balance || qzi_timeline_prepare(&sampler->timeline, head->elapsed_ns) || sampler->file->full) return -1;
  *ns = now_ns - sampler->last_ns;
  __atomic_store_n(&head->rounds_begun, head->snapshots + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  return 0;
}

static inline void qzi_snapshot_end(struct qzi_sampler *sampler, uint64_t now_ns, const struct qzi_counts *counts,
                                    uint64_t ns) {
  struct qz_profile *head = sampler->file->head;
  struct qz_balance *all = &sampler->file->balance[counts->balance - 1];
  uint64_t whole_ns = counts->whole_ns ? counts->whole_ns : ns;
  all->count += !counts->more;
  all->ns += ns;
  all->overhead_ns += counts->overhead * ns;
  all->runnable_ns += counts->runnable * ns;
  qzi_timeline_add(&sampler->timeline, ns, sampler->view->processors, counts->useful, counts->overhead,
                   counts->spinning, counts->runnable, !counts->more);
  head->elapsed_ns += ns;
  if (!counts->more) head->weight_us2 += (whole_ns / 1000) * (whole_ns / 1000);
  head->torn_retries += counts->retries;
  head->torn_accepted += counts->torn;
  head->invalid += counts->invalid;
  if (!counts->more) __atomic_store_n(&head->snapshots, head->snapshots + 1, __ATOMIC_RELEASE);
  sampler->last_ns = now_ns;
  sampler->runnable = counts->runnable;
  sampler->busy = (uint16_t)(counts->useful + counts->overhead);
  sampler->spinning = (uint16_t)counts->spinning;
}

/* Records that the thread was seen in the snapshot being added; at_ns: the end of the time that the snapshot stands
 * for, since the beginning of the recording. */
static inline void qzi_thread_seen(struct qzi_sampler *sampler, uint32_t index, uint64_t at_ns) {
  uint32_t stats_plus_1 = sampler->in.memos[index].stats;
  if (!stats_plus_1) return;
  struct qz_thread_stats *stats = &sampler->file->threads[stats_plus_1 - 1];
  if (stats->first_ns == UINT64_MAX) stats->first_ns = at_ns;
  stats->last_ns = at_ns;
}

#endif
