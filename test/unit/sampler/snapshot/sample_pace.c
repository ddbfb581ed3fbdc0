/* Which part of the samples is used, by what they cost; and that the chosen ones are like all of them. */
#include "sampler/snapshot/samples/sample_pace.h"

#include "sampler/linux/sample_choice.h"
#include "test/support/check.h"

#define RATE  500u /* readings a second, of one sample each */
#define START UINT64_C(1000000000000)

static uint64_t clock_ns = START;
static struct qzi_sample_time used;

/* For so many ms, samples that take each_ns themselves, walks_ns for their walks, and analyses_ns for new code. Returns
 * the part of a CPU that samples and walks took. */
static double spend(struct qzi_sample_pace *pace, unsigned ms, uint64_t each_ns, uint64_t walks_ns,
                    uint64_t analyses_ns, int spare) {
  static struct qzi_sample_choice choice;
  uint64_t begun_ns = clock_ns, spent_ns = 0;
  for (; clock_ns < begun_ns + ms * UINT64_C(1000000); clock_ns += 1000000000 / RATE) {
    struct qzi_sample_time from = used;
    qzi_sample_choice_set(&choice, pace->one_of);
    uint32_t taken = (uint32_t)qzi_sample_choice_takes(&choice);
    used.cpu_ns += taken * (each_ns + walks_ns + analyses_ns);
    used.walks_ns += taken * walks_ns;
    used.analyses_ns += taken * analyses_ns;
    CHECK_IS(qzi_sample_time_own(&from, &used), taken * each_ns);
    uint32_t before = pace->one_of;
    CHECK_IS(qzi_sample_pace_add(pace, clock_ns, &from, &used, taken, 1, spare), pace->one_of != before);
    spent_ns += taken * (each_ns + walks_ns);
  }
  return (double)spent_ns / (double)(clock_ns - begun_ns);
}

/* Everything is chosen if nothing is left out; of N in a row one, wherever it is among them; and together they stand
 * for as many as there were, also where N changes. */
static void try_choice(void) {
  struct qzi_sample_choice choice = {0};
  for (int k = 0; k < 10; k++) CHECK_IS(qzi_sample_choice_takes(&choice), 1);
  CHECK_IS(qzi_sample_choice_stands(&choice), 1);
  CHECK_IS(choice.left_out, 0);
  unsigned at[8] = {0};
  qzi_sample_choice_set(&choice, 8);
  for (int round = 0; round < 8000; round++) {
    unsigned taken = 0;
    for (unsigned k = 0; k < 8; k++) {
      unsigned takes = (unsigned)qzi_sample_choice_takes(&choice);
      at[k] += takes;
      taken += takes;
    }
    CHECK_IS(taken, 1);
  }
  for (unsigned k = 0; k < 8; k++) CHECK(at[k] > 850 && at[k] < 1150); /* 5 standard deviations */
  CHECK_IS(choice.left_out, 8000 * 7);
  double stand[2] = {0}; /* for samples of two kinds, which come by turns, with a new N after each 13 */
  for (unsigned k = 0; k < 200000; k++) {
    if (k % 13 == 0) qzi_sample_choice_set(&choice, 1 + k / 13 % 7);
    if (qzi_sample_choice_takes(&choice)) stand[k % 2] += qzi_sample_choice_stands(&choice);
  }
  for (unsigned kind = 0; kind < 2; kind++) CHECK(stand[kind] > 97000 && stand[kind] < 103000);
}

int main(void) {
  struct qzi_sample_pace cheap = {0}, costly = {0}, changes = {0}, spare = {0}, code = {0}, costliest = {0};
  try_choice();
  /* 500 samples of 5 us take a quarter of a per cent; of 80 us, 4 %. */
  spend(&cheap, 5000, 3000, 2000, 0, 0);
  CHECK(cheap.one_of <= 1);
  CHECK(spend(&costly, 900, 80000, 0, 0, 0) > 0.03); /* the first 40 ms do not count */
  double share = spend(&costly, 5000, 80000, 0, 0, 0);
  CHECK(costly.one_of == 3 && share < 1.0 / 64 && share > 0.6 / 64);
  spend(&changes, 5000, 30000, 50000, 0, 0); /* walks count */
  CHECK_IS(changes.one_of, 3);
  spend(&changes, 5000, 5000, 2000, 0, 0); /* cheap again */
  CHECK_IS(changes.one_of, 1);
  spend(&spare, 5000, 80000, 0, 0, 1); /* a CPU is idle */
  CHECK(spare.one_of <= 1);
  spend(&spare, 5000, 200000, 0, 0, 1);
  CHECK_IS(spare.one_of, 2);
  spend(&code, 5000, 5000, 2000, 200000, 0); /* new code has a budget of its own */
  CHECK(code.one_of <= 1);
  spend(&costliest, 5000, 1900000, 0, 0, 0); /* at most one of 32 */
  CHECK_IS(costliest.one_of, QZI_SAMPLES_ONE_OF_MOST);
  /* At the boundary it does not go back and forth. */
  struct qzi_sample_pace even = {0};
  spend(&even, 2000, 62500, 0, 0, 0); /* 2.0 times the budget */
  uint32_t settled = even.one_of;
  for (int k = 0; k < 100; k++) {
    spend(&even, 100, 61000 + 3000 * (uint64_t)(k % 2), 0, 0, 0);
    CHECK_IS(even.one_of, settled);
  }
  return 0;
}
