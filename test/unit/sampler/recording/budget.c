/* At which intervals snapshots are taken, by what they cost. */
#include "sampler/recording/budget.h"

#include "test/support/check.h"

#define USUAL UINT64_C(1000000)

static struct qzi_spent spent;

static double sampling; /* the share of a CPU that samples take */

/* Looks after 100 snapshots of that cost each, and `apart`, which has a budget of its own. */
static uint64_t look(struct qzi_budget *budget, uint64_t each_ns, uint64_t apart_ns, uint64_t now_ns,
                     uint64_t threads) {
  uint64_t samples_ns = (uint64_t)(sampling * 100 * (double)now_ns);
  spent.clock_ns += 100 * now_ns;
  spent.samples_ns += samples_ns;
  spent.cpu_ns += 100 * (each_ns + apart_ns) + samples_ns;
  spent.apart_ns += 100 * apart_ns;
  spent.snapshots += 100;
  return qzi_budget_interval(budget, &spent, USUAL, now_ns, threads);
}
/* The interval that it settles at. */
static uint64_t settled(int ranked, uint64_t wake_ns, uint64_t each_ns, uint64_t apart_ns, uint64_t threads) {
  struct qzi_budget budget;
  uint64_t interval = USUAL;
  qzi_budget_begin(&budget, &spent, ranked);
  qzi_budget_woke(&budget, wake_ns);
  qzi_budget_woke(&budget, 100000000);                       /* interrupted: it does not count */
  CHECK_IS(look(&budget, 1000000, 0, interval, threads), 0); /* one-time work does not count either */
  for (int k = 0; k < 100; k++) {
    uint64_t next = look(&budget, each_ns, apart_ns, interval, threads);
    if (next) interval = next;
  }
  return interval;
}

int main(void) {
  CHECK_IS(settled(0, 5000, 12000, 0, 0), USUAL);
  CHECK_IS(settled(0, 5000, 12000, 1000000, 0), USUAL); /* what has its own budget does not count */
  CHECK_IS(settled(0, 5000, 25000, 0, 0), USUAL);       /* up to 1.4 times its budget it stays */
  CHECK_IS(settled(0, 5000, 5000 + 50000, 0, 0), 64 * 50000);
  CHECK_IS(settled(0, 40000, 45000, 0, 0), 50 * 40000); /* wake-ups have their own */
  CHECK_IS(settled(0, 5000, 5000 + 50000, 0, 500), 2 * 64 * 50000);
  CHECK_IS(settled(0, 5000, 5000 + 50000, 0, 10000), 4 * 64 * 50000);
  CHECK_IS(settled(0, 5000, 900000000, 0, 0), 50 * USUAL); /* at most 50 times as long */
  /* Samples of running threads take a part of the budget, and leave a half, whatever they cost. */
  sampling = 0.25 / 64;
  CHECK_IS(settled(0, 5000, 5000 + 48000, 0, 0), 64 * 64000);
  sampling = 0.1;
  CHECK_IS(settled(0, 5000, 5000 + 50000, 0, 0), 128 * 50000);
  CHECK_IS(settled(0, 5000, 12000, 0, 0), USUAL);
  sampling = 0;
  /* Without a CPU in the middle of samples these seem to take more than all that was used. */
  struct qzi_budget budget;
  qzi_budget_begin(&budget, &spent, 0);
  for (int k = 0; k < 3; k++) {
    spent.samples_ns += 5000000;
    CHECK_IS(look(&budget, 12000, 0, USUAL, 0), 0);
  }
  /* A rank of an MPI program has two thirds. */
  CHECK_IS(settled(1, 5000, 12000, 0, 0), USUAL);
  CHECK_IS(settled(1, 5000, 5000 + 20000, 0, 0), 96 * 20000);
  CHECK_IS(settled(1, 20000, 25000, 0, 0), 75 * 20000);
  return 0;
}
