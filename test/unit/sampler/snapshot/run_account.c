/* Of which threads is reported that they executed: the processor time that the kernel counts, no more and no less
 * (run_account.h). The process itself is this test, whose own clock is left out. */
#include "sampler/snapshot/run_account.h"
#include "test/support/check.h"

#include <unistd.h>

#define MS INT64_C(1000000)

static struct qzi_run_accounts fresh(uint64_t snapshot_ns) {
  struct qzi_run_accounts accounts;
  qzi_run_accounts_open(&accounts, (uint32_t)getpid(), 2);
  CHECK(accounts.readable);
  accounts.readable = 0; /* the thread's own account alone decides */
  accounts.snapshot_ns = snapshot_ns;
  return accounts;
}

/* What is owed to a thread, and whether it may or must be told to execute; snapshots of 1 ms, so a tolerance of 4 ms.
 */
static const struct {
  int64_t owed_ns;
  int may, must;
} rows[] = {
  {0, 1, 0},       {4 * MS, 1, 0},  {4 * MS + 1, 1, 1},  {100 * MS, 1, 1},
  {-3 * MS, 1, 0}, {-4 * MS, 1, 0}, {-4 * MS - 1, 0, 0}, {-100 * MS, 0, 0},
};

static void tolerance(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct qzi_run_account account = {.owed_ns = rows[k].owed_ns, .known = 1};
    CHECK(qzi_run_account_may(&accounts, &account) == rows[k].may);
    CHECK(qzi_run_account_must(&accounts, &account) == rows[k].must);
    account.known = 0; /* of a thread whose count may not be read nothing is reported that was not seen */
    CHECK(!qzi_run_account_must(&accounts, &account));
  }
}

/* A thread that runs a part of each interval, seen runnable always, or never: what is reported is what it ran. */
static void told_is_run(void) {
  static const unsigned shares[] = {1, 10, 33, 50, 90, 100}; /* per cent of the time that it runs */
  for (unsigned k = 0; k < sizeof shares / sizeof *shares; k++)
    for (int seen = 0; seen < 2; seen++) {
      struct qzi_run_accounts accounts = fresh((uint64_t)MS);
      struct qzi_run_account account = {0};
      uint64_t run_ns = 0;
      for (unsigned n = 0; n < 20000; n++) {
        run_ns += (uint64_t)MS * shares[k] / 100;
        qzi_run_account_read(&account, run_ns, 0);
        if (seen ? qzi_run_account_may(&accounts, &account) : qzi_run_account_must(&accounts, &account))
          qzi_run_account_attribute(&accounts, &account);
      }
      int64_t off = (int64_t)account.attributed_ns - (int64_t)run_ns, part = (int64_t)(run_ns / 128);
      int64_t most = (part > 4 * MS ? part : 4 * MS) + 2 * MS; /* the tolerance, and what a snapshot more stands for */
      CHECK(off <= most && off >= -most);
      CHECK(account.owed_ns == -off && accounts.attributed_ns == account.attributed_ns);
    }
}

/* What it ran before the recording is not reported; what the kernel counts never goes back. */
static void readings(void) {
  struct qzi_run_account before = {0}, made = {0};
  qzi_run_account_read(&before, 50, 1);
  CHECK(before.owed_ns == 0 && before.known);
  qzi_run_account_read(&before, 70, 1);
  CHECK(before.owed_ns == 20);
  qzi_run_account_read(&made, 50, 0);
  CHECK(made.owed_ns == 50);
  qzi_run_account_read(&made, 40, 0);
  CHECK(made.owed_ns == 50);
  qzi_run_account_guess(&made, 10); /* it is known: nothing is guessed */
  CHECK(made.owed_ns == 50);
  struct qzi_run_account hidden = {0};
  qzi_run_account_guess(&hidden, 10);
  CHECK(hidden.owed_ns == 10);
}

int main(void) {
  tolerance();
  told_is_run();
  readings();
  return 0;
}
