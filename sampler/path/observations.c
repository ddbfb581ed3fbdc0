/* See observations.h. */
#include "observations.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/util/array.h"

#define LONG 8192u /* observations of one actor that nobody has asked for yet */

static int alike(const struct qzi_observation *a, const struct qzi_observation *b) {
  return a->stack == b->stack && a->thread == b->thread && a->state == b->state && a->inferred == b->inferred;
}

int qzi_observations_add(struct qzi_observations *log, const struct qzi_observation *seen) {
  if (log->count > log->first && alike(&log->at[log->count - 1], seen)) {
    log->at[log->count - 1].end = seen->end;
    return 0;
  }
  if (log->first > 64 && log->first > log->count / 2) {
    memmove(log->at, log->at + log->first, (log->count - log->first) * sizeof *log->at);
    log->count -= log->first;
    log->first = 0;
  }
  if (log->count - log->first >= LONG) {
    uint32_t kept = log->first;
    for (uint32_t k = log->first + 1; k < log->count; k += 2) log->at[kept++] = log->at[k];
    log->count = kept;
  }
  if (qzi_grow((void **)&log->at, &log->room, log->count + 1, sizeof *log->at)) return -1;
  log->at[log->count++] = *seen;
  return 0;
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
