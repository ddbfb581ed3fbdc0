/* Accounts of processor time. See run_account.h. */
#include "run_account.h"

#include "abi/profile_rows.h"
#include "sampler/linux/schedstat.h"
#include "sampler/util/clock.h"

/* The kernel updates the time of a running thread at its ticks, 4 ms apart in most distributions, and at switches. */
#define TICK_NS    INT64_C(4000000)
/* maximum time not counted yet of a thread that gives up its CPU between ticks, in average stretches */
#define STRETCHES  4
#define PART       ((int)QZ_ACCOUNT_PART) /* an account may be off by 1/PART of what was reported, */
#define MOST_NS    INT64_C(50000000)      /* but for one thread by no more than this */
#define SHOWN      4                      /* and by so many snapshots that show which threads have a CPU */
#define LATELY_NS  UINT64_C(64000000)     /* time over which the recent usage of CPUs is averaged */
#define MANY       64u                    /* up to this many threads, the process's time is read for each snapshot, */
#define COST       1600u                  /* with more it uses at most 1/COST of a CPU, */
#define EACH_NS    UINT64_C(40000)        /* and is read at intervals of at least this time for each thread */
#define SEEN_MOST  128u                   /* looks over which it is averaged who works beside whom, */
#define SEEN_LEAST 8u                     /* and the least number that says anything */

void qzi_run_accounts_open(struct qzi_run_accounts *accounts, uint32_t pid, uint32_t processors) {
  *accounts = (struct qzi_run_accounts){.pid = pid, .processors = processors};
  accounts->readable = !qzi_cpu_time_of_process((pid_t)pid, &accounts->base_ns);
}

/* Updates the number of CPUs that the process has used recently. */
static void note_rate(struct qzi_run_accounts *accounts, uint64_t now_ns, uint64_t run_ns) {
  if (accounts->read_ns) {
    accounts->lately_ns += now_ns - accounts->read_ns;
    accounts->ran_ns += run_ns > accounts->run_ns ? run_ns - accounts->run_ns : 0;
  }
  accounts->read_ns = now_ns;
  accounts->unread_ns = 0;
  if (accounts->lately_ns < LATELY_NS) return;
  accounts->lately_ns /= 2;
  accounts->ran_ns /= 2;
}

void qzi_run_accounts_begin(struct qzi_run_accounts *accounts, uint64_t now_ns, uint64_t snapshot_ns,
                            uint32_t threads) {
  uint64_t run_ns;
  accounts->snapshot_ns = snapshot_ns;
  accounts->late_ns = 0;
  accounts->unread_ns = accounts->read_ns ? now_ns - accounts->read_ns : 0;
  if (!accounts->readable || accounts->ended || (!accounts->last && now_ns < accounts->due_ns)) return;
  uint64_t begin_ns = threads > MANY ? qzi_thread_cpu_ns() : 0;
  int gone = qzi_cpu_time_of_process((pid_t)accounts->pid, &run_ns) || run_ns < accounts->base_ns;
  if (threads > MANY) {
    uint64_t took_ns = qzi_thread_cpu_ns() - begin_ns, wait_ns = threads * EACH_NS;
    accounts->due_ns = now_ns + (took_ns * COST > wait_ns ? took_ns * COST : wait_ns);
    accounts->took_ns += took_ns;
  }
  if (gone) return; /* it has ended: the last reading remains valid */
  note_rate(accounts, now_ns, run_ns - accounts->base_ns);
  accounts->run_ns = run_ns - accounts->base_ns;
}

double qzi_run_accounts_cpus(const struct qzi_run_accounts *accounts) {
  return accounts->lately_ns ? (double)accounts->ran_ns / (double)accounts->lately_ns : accounts->processors;
}

void qzi_run_accounts_last(struct qzi_run_accounts *accounts, uint64_t total_ns) {
  accounts->last = 1;
  if (!accounts->readable || total_ns < accounts->base_ns + accounts->run_ns) return;
  accounts->run_ns = total_ns - accounts->base_ns;
  accounts->ended = 1;
}

/* The time that the kernel has not counted yet is at most what the thread has run since it got its CPU, and since the
 * last tick. */
static void read_late(struct qzi_run_account *account, uint64_t run_ns, uint64_t dispatches) {
  uint64_t ran_ns = run_ns > account->run_ns ? run_ns - account->run_ns : 0,
           times = dispatches > account->dispatches ? dispatches - account->dispatches : 0;
  account->dispatches = dispatches;
  if (!account->known || !dispatches || (!times && ran_ns))
    account->late_ns = (uint64_t)TICK_NS;
  else if (times)
    account->late_ns = ran_ns / times * STRETCHES < (uint64_t)TICK_NS ? ran_ns / times * STRETCHES : (uint64_t)TICK_NS;
}

void qzi_run_account_read(struct qzi_run_account *account, uint64_t run_ns, uint64_t dispatches, int before) {
  read_late(account, run_ns, dispatches);
  uint64_t from_ns = account->known ? account->run_ns : before ? run_ns : 0;
  if (run_ns > from_ns) account->owed_ns += (int64_t)(run_ns - from_ns);
  account->run_ns = run_ns;
  account->known = 1;
}

void qzi_run_account_runs(struct qzi_run_accounts *accounts, const struct qzi_run_account *account) {
  if (account->late_ns > accounts->late_ns) accounts->late_ns = account->late_ns;
}

void qzi_run_account_guess(struct qzi_run_account *account, uint64_t part_ns) {
  if (!account->known) account->owed_ns += (int64_t)part_ns;
}

/* How far an account may be off: by what the kernel has not counted yet, by what looks can miss, or by a small part of
 * what was reported, whichever is most. A smaller tolerance would permanently correct random errors of looks, and at
 * other times than those at which they occurred. */
static int64_t tolerance_ns(const struct qzi_run_accounts *accounts, uint64_t attributed_ns, int64_t late_ns,
                            int64_t threads, int64_t looks) {
  int64_t tolerance = late_ns, part = (int64_t)(attributed_ns / PART);
  looks *= (int64_t)accounts->snapshot_ns;
  if (part > threads * MOST_NS) part = threads * MOST_NS;
  if (looks > tolerance) tolerance = looks;
  return part > tolerance ? part : tolerance;
}

/* Time owed to the whole process, including ended threads and those that were not read; 0 if the kernel does not
 * say. */
static int64_t process_owed(const struct qzi_run_accounts *accounts) {
  return accounts->readable ? (int64_t)(accounts->run_ns - accounts->attributed_ns) : 0;
}

/* Time of the whole process that the kernel has not counted yet: half a stretch, on average, for each CPU that it uses,
 * and what it ran since it was read. Without the second part, runnable threads that wait for a CPU would always get
 * that much too early, which could not be corrected at the end. */
static int64_t process_late_ns(const struct qzi_run_accounts *accounts) {
  return (int64_t)(qzi_run_accounts_cpus(accounts) * ((double)accounts->late_ns / 2 + (double)accounts->unread_ns));
}

/* How far the process may be off: too little may have been reported because of what looks can miss, too much because of
 * what the kernel has not counted yet. */
static int64_t process_tolerance_ns(const struct qzi_run_accounts *accounts, int sign) {
  if (accounts->last) return (int64_t)accounts->snapshot_ns / 2;
  int64_t processors = accounts->processors, part = (int64_t)(accounts->attributed_ns / PART),
          looks = processors * (int64_t)accounts->snapshot_ns;
  if (sign < 0) return tolerance_ns(accounts, accounts->attributed_ns, process_late_ns(accounts), processors, 0);
  if (part > processors * MOST_NS) part = processors * MOST_NS;
  return part > looks ? part : looks;
}

/* Time that must be owed to a thread before it counts, with the sign of `sign`: at most its own tolerance, and the less
 * the closer the whole process is to its tolerance, down to half a look. So each thread may be off by chance, but their
 * sum is not. In the last snapshot it is half a look. Where it is seen which threads have a CPU, each snapshot stands
 * for these alone, though others had CPUs in its time: by chance, an account is then off by some snapshots. */
static int64_t threshold_ns(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account, int sign) {
  int64_t late_ns = sign < 0 && account->known ? (int64_t)account->late_ns : TICK_NS;
  int64_t own = tolerance_ns(accounts, account->attributed_ns, late_ns, 1, 2),
          all = process_tolerance_ns(accounts, sign), shown = SHOWN * (int64_t)accounts->shown_ns;
  if (shown > MOST_NS) shown = MOST_NS;
  if (shown > own) own = shown;
  int64_t off = sign * process_owed(accounts), half = sign * (int64_t)accounts->snapshot_ns / 2;
  if (accounts->last) return (int64_t)accounts->snapshot_ns / 2;
  if (off <= 0) return sign * own;
  if (off >= all) return sign * half;
  return sign * (own - (int64_t)((double)(own - half) * (double)off / (double)all));
}

/* Whether any more time may be attributed. Time attributed too early can only be corrected by attributing less later,
 * and the program may end before. */
static int some_left(const struct qzi_run_accounts *accounts) {
  int64_t half_ns = (int64_t)accounts->snapshot_ns / 2;
  if (!accounts->readable) return 1;
  return process_owed(accounts) > (accounts->last ? 0 : half_ns - process_tolerance_ns(accounts, -1));
}

int qzi_run_account_may(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account) {
  return some_left(accounts) && account->owed_ns >= threshold_ns(accounts, account, -1);
}

int qzi_run_account_must(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account) {
  if (accounts->last && accounts->readable) return 0; /* qzi_run_accounts_short() decides */
  return account->known && some_left(accounts) && account->owed_ns > threshold_ns(accounts, account, 1);
}

void qzi_run_account_seen(struct qzi_run_account *account, int with_others) {
  *(with_others ? &account->beside : &account->alone) += 1;
  if (account->alone + account->beside < SEEN_MOST) return;
  account->alone /= 2;
  account->beside /= 2;
}

int qzi_run_account_beside(struct qzi_run_account *account) {
  uint32_t seen = (uint32_t)account->alone + account->beside;
  if (seen < SEEN_LEAST) return 1;
  account->credit += account->beside;
  if (account->credit < seen) return 0;
  account->credit -= seen;
  if (account->credit >= seen) account->credit = 0;
  return 1;
}

int qzi_run_accounts_short(const struct qzi_run_accounts *accounts) {
  return process_owed(accounts) > process_tolerance_ns(accounts, 1);
}

int qzi_run_accounts_pressed(const struct qzi_run_accounts *accounts) {
  return process_owed(accounts) > process_tolerance_ns(accounts, 1) + (int64_t)accounts->ahead_ns;
}

int qzi_run_accounts_must(const struct qzi_run_accounts *accounts, int64_t owed_ns) {
  return some_left(accounts) && process_owed(accounts) - owed_ns > process_tolerance_ns(accounts, 1);
}

void qzi_run_account_attribute(struct qzi_run_accounts *accounts, struct qzi_run_account *account) {
  account->owed_ns -= (int64_t)accounts->snapshot_ns;
  account->attributed_ns += accounts->snapshot_ns;
  accounts->attributed_ns += accounts->snapshot_ns;
}
