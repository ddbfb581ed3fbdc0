/* Samples that ended threads have left. See left_samples.h. */
#include "left_samples.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct qzi_left *its) {
  for (uint32_t k = 0; k < its->count; k++) free(its->kept[k]);
  its->count = 0;
}

/* make: 1: if there is none, takes the place of the start routine that was not used for longest */
static struct qzi_left *samples_of(struct qzi_left_samples *left, uint64_t start, int make) {
  struct qzi_left *oldest = &left->all[0];
  for (uint32_t k = 0; k < QZI_LEFT_STARTS; k++) {
    struct qzi_left *its = &left->all[k];
    if (its->start == start) {
      its->used = ++left->uses;
      return its;
    }
    if (its->used < oldest->used) oldest = its;
  }
  if (!make) return NULL;
  clear(oldest);
  oldest->start = start;
  oldest->used = ++left->uses;
  return oldest;
}

/* The sample that stands for most. */
static struct qzi_sampled *most_of(const struct qzi_left *its) {
  struct qzi_sampled *most = NULL;
  for (uint32_t k = 0; k < its->count; k++)
    if (!most || its->kept[k]->left_ns > most->left_ns) most = its->kept[k];
  return most;
}

/* A new one stands for as much more than the others as if these had not been overused. */
static void append(struct qzi_left *its, struct qzi_sampled *sampled) {
  const struct qzi_sampled *most = most_of(its);
  if (most && most->left_ns < 0) sampled->left_ns += most->left_ns;
  if (its->count == QZI_LEFT_KEPT) {
    free(its->kept[0]);
    memmove(its->kept, its->kept + 1, --its->count * sizeof *its->kept);
  }
  its->kept[its->count++] = sampled;
}

void qzi_left_samples_keep(struct qzi_left_samples *left, uint64_t start, struct qzi_sample_queue *queue) {
  uint32_t kept = 0;
  for (uint32_t k = 0; start && k < queue->count; k++)
    if (queue->kept[k]->left_ns > 0)
      append(samples_of(left, start, 1), queue->kept[k]);
    else
      queue->kept[kept++] = queue->kept[k];
  if (start) queue->count = kept;
}

void qzi_left_samples_add(struct qzi_left_samples *left, struct qzi_sampled *sampled, uint64_t interval_ns) {
  struct qzi_walk *walk = &sampled->walk;
  if (!walk->whole || walk->count < 2) { /* with one entry, it would say no more than the start routine */
    free(sampled);
    return;
  }
  uint64_t start = walk->entries[0];
  walk->start_loops = walk->loops[0];
  walk->count--;
  memmove(walk->entries, walk->entries + 1, walk->count * sizeof *walk->entries);
  memmove(walk->loops, walk->loops + 1, walk->count * sizeof *walk->loops);
  sampled->left_ns = (int64_t)interval_ns;
  append(samples_of(left, start, 1), sampled);
}

const struct qzi_sampled *qzi_left_samples_spend(struct qzi_left_samples *left, uint64_t start, uint64_t ns) {
  const struct qzi_left *its = start ? samples_of(left, start, 0) : NULL;
  struct qzi_sampled *most = its ? most_of(its) : NULL;
  if (most) most->left_ns -= (int64_t)ns;
  return most;
}

const struct qzi_sampled *qzi_left_samples_any(struct qzi_left_samples *left, uint64_t start, uint64_t number) {
  const struct qzi_left *its = start ? samples_of(left, start, 0) : NULL;
  return its && its->count ? its->kept[number % its->count] : NULL;
}

void qzi_left_samples_close(struct qzi_left_samples *left) {
  for (uint32_t k = 0; k < QZI_LEFT_STARTS; k++) clear(&left->all[k]);
  memset(left, 0, sizeof *left);
}
