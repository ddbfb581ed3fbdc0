/* The time for analysing code that no sample was seen in before: whether it waits, and what memory it accesses.
 *
 * Owns:    how much of it was allowed, and used.
 * Writer and reader: the aggregating thread.
 *
 * Each place is analysed once, so this time depends on how much code a program has, not on the number of snapshots. If
 * it were part of what a snapshot takes, programs with much code would get fewer snapshots for the rest of a short run
 * (sampling_threads.c). What exceeds the allowance waits for a later sample of the same place; until then the code
 * counts as working.
 */
#ifndef QZI_NEW_CODE_H
#define QZI_NEW_CODE_H

#include <stdint.h>
#include "sampler/util/clock.h"

struct qzi_new_code {
  uint64_t begun_ns; /* of the last snapshot; 0: none yet */
  uint64_t allowed_ns, spent_ns;
};

/* A snapshot begins. spare: 1 if the program leaves a CPU idle. */
void qzi_new_code_begin(struct qzi_new_code *code, uint64_t now_ns, int spare);

/* Whether one more place may be analysed. NULL: always. */
static inline int qzi_new_code_may(const struct qzi_new_code *code) {
  return !code || code->spent_ns < code->allowed_ns;
}

/* A place has been analysed since begun_ns. */
void qzi_new_code_spend(struct qzi_new_code *code, uint64_t begun_ns);

#endif
