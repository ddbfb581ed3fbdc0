/* A long stretch of a path keeps its time, and the time of all that it did: exactly if these were few things, in
 * whichever order, and on average if they were many. So does a log of observations that has become too long. */
#include <string.h>
#include "sampler/path/observations.h"
#include "sampler/path/pieces.h"
#include "test/support/check.h"

enum { MANY = QZI_OBSERVATIONS_MOST, THINGS = 40 };

static struct qzi_piece pieces[MANY];
static uint64_t random_state = 88172645463325252u;

static uint64_t sum_of(uint32_t count, uint32_t stack) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < count; k++)
    if (!stack || pieces[k].stack == stack) sum += pieces[k].time;
  return sum;
}

/* As many as fit are kept as they are; if there are more, of few kinds, the sum of each kind is kept. */
static void few_kinds(uint32_t kinds) {
  uint64_t before[THINGS + 1];
  CHECK(kinds <= THINGS);
  for (uint32_t k = 0; k < MANY; k++)
    pieces[k] = (struct qzi_piece){.time = 1 + k % 7, .stack = 1 + k % kinds, .thread = 1, .state = 1};
  for (uint32_t s = 0; s <= kinds; s++) before[s] = sum_of(MANY, s);
  CHECK(qzi_pieces_shorten(pieces, QZI_PIECES_KEPT, &random_state) == QZI_PIECES_KEPT);
  uint32_t count = qzi_pieces_shorten(pieces, MANY, &random_state);
  CHECK(count <= QZI_PIECES_KEPT);
  for (uint32_t s = 0; s <= kinds; s++) CHECK(sum_of(count, s) == before[s]);
}

/* Each piece is of its own kind, except that every second one is a longer one of the first kind: two thirds of the
 * time, as closely as 256 draws can show. */
static void many_kinds(void) {
  for (uint32_t k = 0; k < MANY; k++)
    pieces[k] = (struct qzi_piece){.time = k % 2 ? 20 : 10, .stack = k % 2 ? 1 : 2 + k, .thread = 1 + k, .state = 1};
  uint64_t whole = sum_of(MANY, 0);
  uint32_t count = qzi_pieces_shorten(pieces, MANY, &random_state);
  CHECK(count <= QZI_PIECES_KEPT && sum_of(count, 0) == whole);
  double part = (double)sum_of(count, 1) / (double)whole;
  CHECK(part > 0.53 && part < 0.80);
}

/* Two things that take turns at every snapshot, one for three times as long as the other, for a quarter of an hour. */
static void log_of_turns(void) {
  struct qzi_observations log = {0};
  struct qzi_observation found;
  uint64_t time = 0, by[3] = {0}, ns;
  for (uint32_t k = 0; k < 900000; k++) {
    struct qzi_observation seen = {.end = time += k % 2 ? 3 : 1, .stack = 1 + k % 2, .thread = 1, .state = 1};
    CHECK(!qzi_observations_add(&log, &seen, &random_state));
    CHECK(log.count <= 2 * QZI_OBSERVATIONS_MOST);
  }
  uint32_t at = log.first;
  for (uint64_t from = 0; (ns = qzi_observations_next(&log, &at, from, time, &found)) != 0; from += ns) {
    CHECK(found.stack == 1 || found.stack == 2);
    by[found.stack] += ns;
  }
  CHECK(by[1] + by[2] == time);
  double part = (double)by[2] / (double)time;
  CHECK(part > 0.70 && part < 0.80);
  qzi_observations_free(&log);
}

int main(void) {
  few_kinds(1);
  few_kinds(2);
  few_kinds(30);
  many_kinds();
  log_of_turns();
  return 0;
}
