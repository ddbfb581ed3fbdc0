/* Which threads are reported to have executed: in sum, for the processor time that the kernel counts, no more and no
 * less (run_account.h). The process is this test itself, whose own clock is left out. */
#include "sampler/snapshot/kernel/run_account.h"
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

/* The time owed to a thread, and whether it may or must be reported as executing; snapshots of 1 ms, so a tolerance of
 * 4 ms. */
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
    struct qzi_run_account account = {.owed_ns = rows[k].owed_ns, .late_ns = 4 * MS, .known = 1};
    CHECK(qzi_run_account_may(&accounts, &account) == rows[k].may);
    CHECK(qzi_run_account_must(&accounts, &account) == rows[k].must);
    account.known = 0; /* of a thread whose count may not be read, only what was seen is reported */
    CHECK(!qzi_run_account_must(&accounts, &account));
  }
}

/* A thread that runs a part of each interval, and is seen runnable always, or never: what is reported is the time that
 * it ran. */
static void counted_is_run(void) {
  static const unsigned shares[] = {1, 10, 33, 50, 90, 100}; /* per cent of the time that it runs */
  for (unsigned k = 0; k < sizeof shares / sizeof *shares; k++)
    for (int seen = 0; seen < 2; seen++) {
      struct qzi_run_accounts accounts = fresh((uint64_t)MS);
      struct qzi_run_account account = {0};
      uint64_t run_ns = 0;
      for (unsigned n = 0; n < 20000; n++) {
        run_ns += (uint64_t)MS * shares[k] / 100;
        qzi_run_account_read(&account, run_ns, 0, 0);
        if (seen ? qzi_run_account_may(&accounts, &account) : qzi_run_account_must(&accounts, &account))
          qzi_run_account_attribute(&accounts, &account);
      }
      int64_t off = (int64_t)account.attributed_ns - (int64_t)run_ns, part = (int64_t)(run_ns / 128);
      int64_t most = (part > 4 * MS ? part : 4 * MS) + 2 * MS; /* the tolerance, and what a snapshot more stands for */
      CHECK(off <= most && off >= -most);
      CHECK(account.owed_ns == -off && accounts.attributed_ns == account.attributed_ns);
    }
}

/* What it ran before the recording is not reported; the kernel's count never decreases. */
static void readings(void) {
  struct qzi_run_account before = {0}, made = {0};
  qzi_run_account_read(&before, 50, 0, 1);
  CHECK(before.owed_ns == 0 && before.known);
  qzi_run_account_read(&before, 70, 0, 1);
  CHECK(before.owed_ns == 20);
  qzi_run_account_read(&made, 50, 0, 0);
  CHECK(made.owed_ns == 50);
  qzi_run_account_read(&made, 40, 0, 0);
  CHECK(made.owed_ns == 50);
  qzi_run_account_guess(&made, 10); /* it is known: nothing is guessed */
  CHECK(made.owed_ns == 50);
  struct qzi_run_account hidden = {0};
  qzi_run_account_guess(&hidden, 10);
  CHECK(hidden.owed_ns == 10);
}

/* A thread that gives up its CPU after 20 us each time is not charged with 4 ms that the kernel may still count. */
static void late(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  struct qzi_run_account account = {0};
  qzi_run_account_read(&account, (uint64_t)MS, 50, 1);
  CHECK(account.late_ns == (uint64_t)(4 * MS)); /* not known yet */
  qzi_run_account_read(&account, (uint64_t)(2 * MS), 100, 0);
  CHECK(account.late_ns == (uint64_t)MS / 50 * 4);
  qzi_run_account_read(&account, (uint64_t)(2 * MS), 100, 0); /* on the CPU between two ticks, or waits for one */
  CHECK(account.late_ns == (uint64_t)MS / 50 * 4);
  account.owed_ns = -2 * MS; /* two looks */
  CHECK(qzi_run_account_may(&accounts, &account));
  account.owed_ns = -2 * MS - 1;
  CHECK(!qzi_run_account_may(&accounts, &account));
  qzi_run_account_read(&account, (uint64_t)(3 * MS), 100, 0); /* counted at a tick: it continues */
  CHECK(account.late_ns == (uint64_t)(4 * MS));
}

/* A thread that ran between looks executes beside others as often as looks saw it do so; only then, or if it was hardly
 * seen. */
static void beside(void) {
  static const unsigned of_ten[] = {0, 1, 5, 10};
  for (unsigned k = 0; k < sizeof of_ten / sizeof *of_ten; k++) {
    struct qzi_run_account account = {0};
    for (unsigned n = 0; n < 5; n++) CHECK(qzi_run_account_beside(&account));
    for (unsigned n = 0; n < 1000; n++) qzi_run_account_seen(&account, n % 10 < of_ten[k]);
    CHECK(account.alone + account.beside < 128);
    int may = 0;
    for (unsigned n = 0; n < 1000; n++) may += qzi_run_account_beside(&account);
    int due = (int)of_ten[k] * 100;
    CHECK(may >= due - 60 && may <= due + 60);
  }
}

/* What is owed to all is pressing if it does not fit into what is left of the snapshot. */
static void pressed(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  accounts.readable = 1;
  accounts.run_ns = (uint64_t)(12 * MS); /* the tolerance is a look for each of two CPUs */
  accounts.ahead_ns = (uint64_t)(10 * MS);
  CHECK(qzi_run_accounts_short(&accounts) && !qzi_run_accounts_pressed(&accounts));
  accounts.ahead_ns = (uint64_t)(10 * MS) - 1;
  CHECK(qzi_run_accounts_pressed(&accounts));
}

enum { THREADS = 32 };

/* Attributes parts to the threads that are owed most, as long as all together are owed too much. */
static unsigned attribute_most_owed(struct qzi_run_accounts *accounts, struct qzi_run_account *all) {
  unsigned parts = 0;
  for (; qzi_run_accounts_short(accounts); parts++) {
    unsigned most = 0;
    for (unsigned k = 1; k < THREADS; k++)
      if (all[k].owed_ns > all[most].owed_ns) most = k;
    CHECK(all[most].owed_ns > 0);
    qzi_run_account_attribute(accounts, &all[most]);
  }
  return parts;
}

/* Many threads, each of which is owed less than half a part: together they are owed several. */
static void together(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  struct qzi_run_account all[THREADS] = {0};
  accounts.readable = 1;
  for (unsigned k = 0; k < THREADS; k++) {
    qzi_run_account_read(&all[k], (uint64_t)(2 * MS / 5), 20, 0);
    accounts.run_ns += (uint64_t)(2 * MS / 5);
  }
  for (unsigned k = 0; k < THREADS; k++) CHECK(!qzi_run_account_must(&accounts, &all[k]));
  CHECK(attribute_most_owed(&accounts, all) == 11); /* of 12.8 ms; two parts may stay, one for each CPU */
  CHECK(!qzi_run_account_may(
    &(struct qzi_run_accounts){
      .readable = 1, .snapshot_ns = (uint64_t)MS, .processors = 2, .run_ns = 0, .attributed_ns = (uint64_t)(3 * MS)},
    &all[0])); /* and more than two parts is never attributed too early, of short bursts */
}

/* Sixteen threads that can always run, of which two CPUs run one at a time, for 4 ms each, and none for half of the
 * time: what is attributed is the time that ran, except for a part and what the kernel counts late on average. */
static void seen_too_often(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  struct qzi_run_account all[THREADS / 2] = {0};
  accounts.readable = 1;
  accounts.lately_ns = 2; /* half a CPU */
  accounts.ran_ns = 1;
  uint64_t run_ns[THREADS / 2] = {0};
  for (unsigned n = 0; n < 400; n++) {
    unsigned who = n / 8 % (THREADS / 2);
    if (n % 8 == 4) {
      run_ns[who] += (uint64_t)(4 * MS);
      accounts.run_ns += (uint64_t)(4 * MS);
    }
    accounts.late_ns = 0;
    for (unsigned k = 0; k < THREADS / 2; k++) {
      qzi_run_account_read(&all[k], run_ns[k], 1 + run_ns[k] / (uint64_t)(4 * MS), 0);
      qzi_run_account_runs(&accounts, &all[k]);
    }
    for (unsigned executing = 0; executing < 2; executing++) {
      unsigned most = 0;
      for (unsigned k = 1; k < THREADS / 2; k++)
        if (all[k].owed_ns > all[most].owed_ns) most = k;
      if (!qzi_run_account_may(&accounts, &all[most])) break;
      qzi_run_account_attribute(&accounts, &all[most]);
    }
    int64_t early_ns = (int64_t)(accounts.attributed_ns - accounts.run_ns),
            part_ns = (int64_t)accounts.attributed_ns / 128;
    CHECK(early_ns <= (part_ns > MS ? part_ns : MS) + MS / 2);
  }
  CHECK(accounts.run_ns == (uint64_t)(200 * MS));
}

/* Threads that have ended are owed something, but those that live were charged with more than that too early: nothing
 * is added, because nothing could be taken back if the program ended now. */
static void none_left(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  struct qzi_run_account sleeps = {.owed_ns = 5 * MS, .known = 1};
  accounts.readable = 1;
  accounts.run_ns = (uint64_t)(80 * MS);
  accounts.attributed_ns = (uint64_t)(82 * MS);
  CHECK(!qzi_run_accounts_must(&accounts, -12 * MS) && !qzi_run_account_must(&accounts, &sleeps));
  accounts.run_ns = (uint64_t)(84 * MS);
  CHECK(qzi_run_accounts_must(&accounts, -12 * MS) && qzi_run_account_must(&accounts, &sleeps));
}

/* The last snapshot attributes all but half a part, and nothing more if too much is attributed already. */
static void last(void) {
  struct qzi_run_accounts accounts = fresh((uint64_t)MS);
  struct qzi_run_account all[THREADS] = {0};
  accounts.readable = 1;
  accounts.base_ns = 5;
  for (unsigned k = 0; k < THREADS; k++) qzi_run_account_read(&all[k], (uint64_t)(MS / 5), 20, 0);
  qzi_run_accounts_last(&accounts, (uint64_t)(6 * MS) + 5);
  qzi_run_accounts_begin(&accounts, 1, (uint64_t)(MS / 10), THREADS);
  CHECK(accounts.run_ns == (uint64_t)(6 * MS)); /* not read again */
  CHECK(attribute_most_owed(&accounts, all) == 60);
  for (unsigned k = 0; k < THREADS; k++) CHECK(!qzi_run_account_may(&accounts, &all[k]));
  qzi_run_accounts_last(&accounts, (uint64_t)MS); /* less than was counted before: this is not the program's time */
  CHECK(accounts.run_ns == (uint64_t)(6 * MS));
}

int main(void) {
  tolerance();
  late();
  beside();
  pressed();
  together();
  seen_too_often();
  none_left();
  last();
  counted_is_run();
  readings();
  return 0;
}
