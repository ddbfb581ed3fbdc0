/* See observations.h. */
#include "observations.h"

#include <stdlib.h>
#include <string.h>
#include "pieces.h"
#include "sampler/util/array.h"

#define FORGOTTEN_KEPT 32u /* forgotten observations that links of other actors may still need */

static int alike(const struct qzi_observation *a, const struct qzi_observation *b) {
  return a->stack == b->stack && a->thread == b->thread && a->state == b->state && a->inferred == b->inferred;
}

/* Shortens a log to at most half its length, with the same resolution everywhere: neighbours are joined as long as the
 * result is no longer than a few average ones; each pair becomes one of the two, with a probability proportional to its
 * length, so that sums are correct on average. */
static void halve(struct qzi_observations *log, uint64_t *random) {
  uint64_t start = log->first ? log->at[log->first - 1].end : 0, begin = start;
  uint64_t most = 4 * (log->at[log->count - 1].end - start) / QZI_OBSERVATIONS_MOST;
  uint32_t kept = log->first;
  for (uint32_t k = log->first + 1; k < log->count; k++) {
    struct qzi_observation *last = &log->at[kept], *one = &log->at[k];
    if (one->end - begin > most) {
      begin = last->end;
      log->at[++kept] = *one;
      continue;
    }
    uint64_t end = one->end;
    if (qzi_chosen(random, last->end - begin, end - last->end)) *last = *one;
    last->end = end;
  }
  log->count = kept + 1;
}

int qzi_observations_add(struct qzi_observations *log, const struct qzi_observation *seen, uint64_t *random) {
  if (log->count > log->first && alike(&log->at[log->count - 1], seen)) {
    log->at[log->count - 1].end = seen->end;
    return 0;
  }
  if (log->first > 64 && log->first > log->count / 2) {
    uint32_t left = log->first - FORGOTTEN_KEPT;
    memmove(log->at, log->at + left, (log->count - left) * sizeof *log->at);
    log->count -= left;
    log->first -= left;
  }
  if (log->count - log->first >= QZI_OBSERVATIONS_MOST) halve(log, random);
  if (qzi_grow((void **)&log->at, &log->room, log->count + 1, sizeof *log->at)) return -1;
  log->at[log->count++] = *seen;
  return 0;
}

uint32_t qzi_observations_at(const struct qzi_observations *log, uint64_t from) {
  uint32_t at = log->count;
  while (at && log->at[at - 1].end > from) at--;
  return at || !log->first ? at : log->count; /* where the first one that is left began is not known */
}

uint64_t qzi_observations_next(const struct qzi_observations *log, uint32_t *at, uint64_t from, uint64_t to,
                               struct qzi_observation *found) {
  for (; *at < log->count; (*at)++) {
    const struct qzi_observation *one = &log->at[*at];
    uint64_t begin = *at > log->first ? log->at[*at - 1].end : 0, end = one->end;
    if (begin < from) begin = from;
    if (end > to || *at + 1 == log->count) end = to;
    if (end <= begin) continue;
    *found = *one;
    (*at)++;
    return end - begin;
  }
  return 0;
}

void qzi_observations_forget(struct qzi_observations *log, uint64_t until) {
  while (log->first < log->count && log->at[log->first].end <= until) log->first++;
}

void qzi_observations_free(struct qzi_observations *log) {
  free(log->at);
  *log = (struct qzi_observations){0};
}
