/* Accounts of processor time. See run_account.h. */
#include "run_account.h"

#include "sampler/linux/schedstat.h"
#include "sampler/util/clock.h"

#define TICK_NS                                                                                                       \
  INT64_C(4000000)  /* the kernel counts what a thread runs on at its ticks, 4 ms apart in most distributions, and at \
                       switches */
#define PART    128 /* of what has been reported, it may be off by one part in so many, */
#define MOST_NS INT64_C(50000000) /* of one thread no more than this */
#define MANY    64u               /* threads: the process is summed up for each snapshot up to so many, */
#define COST    800u              /* which takes at most one part in so many of a CPU */
#define EACH_NS UINT64_C(40000)   /* and of more at intervals of so much a thread */

void qzi_run_accounts_open(struct qzi_run_accounts *accounts, uint32_t pid, uint32_t processors) {
  *accounts = (struct qzi_run_accounts){.pid = pid, .processors = processors};
  accounts->readable = !qzi_cpu_time_of_process((pid_t)pid, &accounts->base_ns);
}

void qzi_run_accounts_begin(struct qzi_run_accounts *accounts, uint64_t now_ns, uint64_t snapshot_ns,
                            uint32_t threads) {
  uint64_t run_ns;
  accounts->snapshot_ns = snapshot_ns;
  if (!accounts->readable || now_ns < accounts->due_ns) return;
  uint64_t begin_ns = threads > MANY ? qzi_clock_ns() : 0;
  int gone = qzi_cpu_time_of_process((pid_t)accounts->pid, &run_ns) || run_ns < accounts->base_ns;
  if (threads > MANY) {
    uint64_t took_ns = qzi_clock_ns() - begin_ns, wait_ns = threads * EACH_NS;
    accounts->due_ns = now_ns + (took_ns * COST > wait_ns ? took_ns * COST : wait_ns);
    accounts->took_ns += took_ns;
  }
  if (gone) return; /* it has ended: what was read last holds */
  accounts->run_ns = run_ns - accounts->base_ns;
}

void qzi_run_account_read(struct qzi_run_account *account, uint64_t run_ns, int before) {
  uint64_t from_ns = account->known ? account->run_ns : before ? run_ns : 0;
  if (run_ns > from_ns) account->owed_ns += (int64_t)(run_ns - from_ns);
  account->run_ns = run_ns;
  account->known = 1;
}

void qzi_run_account_guess(struct qzi_run_account *account, uint64_t part_ns) {
  if (!account->known) account->owed_ns += (int64_t)part_ns;
}

/* How far an account may be off: by what the kernel has not counted yet, by looks, and by a small part of what was
 * told. Were it less, what looks happen to see would be corrected all the time, and at other instants than it was. */
static int64_t tolerance_ns(const struct qzi_run_accounts *accounts, uint64_t attributed_ns, int64_t ticks,
                            int64_t looks) {
  int64_t tolerance = ticks * TICK_NS, part = (int64_t)(attributed_ns / PART);
  looks *= (int64_t)accounts->snapshot_ns;
  if (part > ticks * MOST_NS) part = ticks * MOST_NS;
  if (looks > tolerance) tolerance = looks;
  return part > tolerance ? part : tolerance;
}

/* What is owed to the whole process, ended threads and those that were not read included; 0 where the kernel does not
 * tell. */
static int64_t process_owed(const struct qzi_run_accounts *accounts) {
  return accounts->readable ? (int64_t)(accounts->run_ns - accounts->attributed_ns) : 0;
}

/* What has to be owed to a thread, with the sign of `sign`: its own tolerance, and the less of that the nearer the
 * process as a whole is to its own, down to half a look. So each thread may be off by its part of chance, and their sum
 * is not. */
static int64_t threshold_ns(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account, int sign) {
  int64_t own = tolerance_ns(accounts, account->attributed_ns, 1, 2),
          all = tolerance_ns(accounts, accounts->attributed_ns, accounts->processors, 1);
  int64_t off = sign * process_owed(accounts), half = sign * (int64_t)accounts->snapshot_ns / 2;
  if (off < 0) off = 0;
  if (off > all) off = all;
  return sign * (own - (int64_t)((double)(own - half) * (double)off / (double)all));
}

int qzi_run_account_may(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account) {
  return account->owed_ns >= threshold_ns(accounts, account, -1);
}

int qzi_run_account_must(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account) {
  return account->known && account->owed_ns > threshold_ns(accounts, account, 1);
}

int qzi_run_accounts_must(const struct qzi_run_accounts *accounts, int64_t owed_ns) {
  return process_owed(accounts) - owed_ns > tolerance_ns(accounts, accounts->attributed_ns, accounts->processors, 1);
}

void qzi_run_account_attribute(struct qzi_run_accounts *accounts, struct qzi_run_account *account) {
  account->owed_ns -= (int64_t)accounts->snapshot_ns;
  account->attributed_ns += accounts->snapshot_ns;
  accounts->attributed_ns += accounts->snapshot_ns;
}
