/* When snapshots are taken, in simulated time: nothing here is measured. */
#include "sampler/recording/pacing.h"
#include "test/support/fake_session.h"
#include "sampler/linux/futex_wait.h"
#include "sampler/util/clock.h"

#include <pthread.h>

#define INTERVAL UINT64_C(100000) /* 10 kHz */
#define ROUNDS   200000u
#define BINS     20u

/* On time: one instant in each interval, uniform over it, and independent of the one before. */
static void uniform(void) {
  struct qzi_pacing pacing;
  uint64_t start = 5000000000u, bins[BINS] = {0}, pairs[4][4] = {{0}};
  unsigned before = 0;
  qzi_pacing_start(&pacing, 10000000, 1, start, 42);
  CHECK(pacing.interval_ns == INTERVAL);
  for (uint64_t k = 0; k < ROUNDS; k++) {
    uint64_t instant = pacing.instant_ns - start;
    CHECK(instant / INTERVAL == k); /* none skipped, none twice */
    unsigned quarter = (unsigned)(instant % INTERVAL * 4 / INTERVAL);
    bins[instant % INTERVAL * BINS / INTERVAL]++;
    if (k) pairs[before][quarter]++;
    before = quarter;
    qzi_pacing_next(&pacing, pacing.instant_ns);
  }
  CHECK(pacing.skipped == 0);
  double square = 0, expected = (double)ROUNDS / BINS;
  for (unsigned b = 0; b < BINS; b++) square += ((double)bins[b] - expected) * ((double)bins[b] - expected) / expected;
  CHECK(square < 60); /* 19 degrees of freedom: beyond 60 once in 10^5 seeds; this seed is fixed */
  square = 0;
  expected = (double)(ROUNDS - 1) / 16;
  for (unsigned a = 0; a < 16; a++)
    square += ((double)pairs[a / 4][a % 4] - expected) * ((double)pairs[a / 4][a % 4] - expected) / expected;
  CHECK(square < 55);
}

/* Late: the next instant is in the future, every interval is either sampled or skipped, and the intervals for which the
 * snapshots stand follow each other without a gap. */
static void late(void) {
  struct qzi_pacing pacing;
  qzi_pacing_start(&pacing, 10000000, 0, 0, 7);
  uint64_t random = 1, taken = 0, covered = 0, waited = 0;
  for (unsigned k = 0; k < ROUNDS; k++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t now = pacing.instant_ns + (random >> 40) % (3 * INTERVAL); /* up to three intervals late */
    uint64_t end = qzi_pacing_covered(&pacing, now);
    CHECK(end % INTERVAL == 0 && end > covered); /* never two for one interval: no bursts to catch up */
    CHECK(end <= now + INTERVAL &&
          end + INTERVAL > now); /* its own interval, or the previous one if it is a little late */
    covered = end;
    taken++;
    qzi_pacing_next(&pacing, now);
    CHECK(pacing.instant_ns > now);
    CHECK(pacing.tick * INTERVAL >= covered);
    waited += pacing.tick * INTERVAL > covered;
    CHECK(taken + pacing.skipped == pacing.tick);
  }
  CHECK(pacing.skipped > ROUNDS / 2 && waited < ROUNDS);
}

/* A program in step with the intervals, seen by a sampler that is always a little late: each part of its period has its
 * share of the weights. */
static void in_step(void) {
  struct qzi_pacing pacing;
  uint64_t covered = 0, weights[4] = {0};
  qzi_pacing_start(&pacing, 10000000, 0, 0, 11);
  for (unsigned k = 0; k < ROUNDS; k++) {
    uint64_t now = pacing.instant_ns + INTERVAL / 15;
    uint64_t end = qzi_pacing_covered(&pacing, now);
    weights[now % INTERVAL * 4 / INTERVAL] += end - covered;
    covered = end;
    qzi_pacing_next(&pacing, now);
  }
  for (unsigned quarter = 0; quarter < 4; quarter++) {
    double share = (double)weights[quarter] / (double)covered;
    CHECK(share > 0.245 && share < 0.255);
  }
}

/* A program whose phases last exactly one interval each is seen in both phases. */
static void no_lockstep(void) {
  struct qzi_pacing pacing;
  uint64_t first = 0;
  qzi_pacing_start(&pacing, 1000000, 0, 0, 3);
  for (unsigned k = 0; k < ROUNDS; k++) {
    first += pacing.instant_ns % pacing.interval_ns < pacing.interval_ns / 2; /* first half of each period */
    qzi_pacing_next(&pacing, pacing.instant_ns);
  }
  CHECK(first > ROUNDS * 0.49 && first < ROUNDS * 0.51);
}

/* Intervals that become longer, and shorter again: each snapshot stands for the time since the previous one's, and none
 * is counted twice. */
static void changing(void) {
  struct qzi_pacing pacing;
  uint64_t covered = 0, taken = 0;
  qzi_pacing_start(&pacing, 1000000, 0, 0, 5);
  for (unsigned k = 0; k < 1000; k++) {
    uint64_t now = pacing.instant_ns, end = qzi_pacing_covered(&pacing, now), length = k / 100 % 2 ? 7000000 : 1000000;
    CHECK(now >= covered && now < end && end - covered == pacing.interval_ns);
    covered = end;
    taken++;
    qzi_pacing_next(&pacing, now);
    if (pacing.interval_ns != length) qzi_pacing_change(&pacing, length);
  }
  CHECK(pacing.skipped == 0 && taken == 1000 && covered > 3900000000u && covered < 4100000000u);
}

static void *stop_it(void *stop) {
  *(_Atomic uint32_t *)stop = 1;
  qzi_futex_wake(stop);
  return NULL;
}

static void stopping(void) {
  struct qzi_pacing pacing;
  _Atomic uint32_t stop = 1;
  qzi_pacing_start(&pacing, 1, 0, qzi_clock_ns(), 0); /* one in a thousand seconds */
  CHECK(qzi_pacing_wait(&pacing, &stop) == 0);
  stop = 0;
  pthread_t other; /* sooner or later than the wait begins */
  CHECK(!pthread_create(&other, NULL, stop_it, &stop) && qzi_pacing_wait(&pacing, &stop) == 0);
  CHECK(!pthread_join(other, NULL));
  stop = 0;
  pacing.instant_ns = qzi_clock_ns();
  CHECK(qzi_pacing_wait(&pacing, &stop) >= pacing.instant_ns);
}

int main(void) {
  uniform();
  late();
  in_step();
  no_lockstep();
  changing();
  stopping();
  return 0;
}
