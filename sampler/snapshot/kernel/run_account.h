/* Which of the runnable threads count as having executed: the processor time that the kernel counts for each thread is
 * reported in full, and no more than that.
 *
 * Owns:    what of that time is still to be reported.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: read anything of threads (linux/task_state.h does), or know of paths.
 *
 * A snapshot shows that a thread could run, not that a CPU executed it: the CPU may still be waking up, or other
 * threads may be ahead of it. A thread that works for microseconds between sleeps is seen too often in one run, and too
 * rarely in the next. So each thread has an account: what the kernel counts goes in, and each snapshot that counts the
 * thread as executing takes its weight out. A thread that could run, but was attributed more than it had, waits for a
 * CPU; one that sleeps, but was attributed too little, counts as having executed. Snapshots decide when, the kernel how
 * long. (docs/reference/metrics.md, section 6)
 */
#ifndef QZI_RUN_ACCOUNT_H
#define QZI_RUN_ACCOUNT_H

#include <stdint.h>

/* Of one thread; all zero: nothing is known of it yet. */
struct qzi_run_account {
  uint64_t run_ns;        /* read last */
  uint64_t dispatches;    /* how often it had been given a CPU then */
  uint64_t late_ns;       /* how much of what it runs the kernel has not counted yet, at most */
  uint64_t attributed_ns; /* in tuples */
  int64_t owed_ns;        /* counted by the kernel and not reported yet; negative: attributed too early */
  int known;
};

struct qzi_run_accounts {
  uint32_t pid;
  uint32_t processors;
  int readable;           /* 1: the kernel says what the process used, its ended threads included */
  uint64_t base_ns;       /* what that was when the recording began */
  uint64_t run_ns;        /* since, as read last */
  uint64_t attributed_ns; /* of all threads */
  uint64_t due_ns;        /* next reading */
  uint64_t took_ns;       /* all readings that were not made for each snapshot */
  uint64_t snapshot_ns;   /* weight of this snapshot */
  uint64_t late_ns;       /* the greatest of the threads that may be running in this snapshot */
  uint64_t read_ns;       /* when the process was read last, */
  uint64_t unread_ns;     /* how long before this snapshot that was */
  uint64_t lately_ns;     /* how much time has gone by lately, */
  uint64_t ran_ns;        /* and what the process ran in it */
  int last;               /* 1: it is the last one: what is owed now is reported now, or never */
  int ended;              /* 1: run_ns is all that the process used until then */
};

void qzi_run_accounts_open(struct qzi_run_accounts *accounts, uint32_t pid, uint32_t processors);
/* A snapshot of that weight begins. It takes the kernel some ns a thread to sum up the process: of many, not each time.
 */
void qzi_run_accounts_begin(struct qzi_run_accounts *accounts, uint64_t now_ns, uint64_t snapshot_ns, uint32_t threads);
/* The snapshot that begins next is the last one. total_ns: what the process used until then, where that is known; 0:
 * what the kernel says. */
void qzi_run_accounts_last(struct qzi_run_accounts *accounts, uint64_t total_ns);
/* The kernel counts run_ns for the thread, and that it was given a CPU so often (0: unknown). before: 1: it ran before
 * the recording began, which is not to be reported.
 */
void qzi_run_account_read(struct qzi_run_account *account, uint64_t run_ns, uint64_t dispatches, int before);
/* It could run. */
void qzi_run_account_runs(struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* A thread of which the kernel does not say has a fair part: `part_ns` of this snapshot. */
void qzi_run_account_guess(struct qzi_run_account *account, uint64_t part_ns);

/* Of a thread that could run: whether it may count as executing. Of several the one that is owed most comes first. */
int qzi_run_account_may(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* Of one that sleeps: whether it has to be. */
int qzi_run_account_must(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* Whether one of those that sleep has to be, although none is owed enough: all together are. It is the one that is owed
 * most then, and more than nothing. */
int qzi_run_accounts_short(const struct qzi_run_accounts *accounts);
/* Whether that holds for threads that have ended before they were looked at: what the process used beyond `owed_ns` of
 * all others. */
int qzi_run_accounts_must(const struct qzi_run_accounts *accounts, int64_t owed_ns);
/* It is. */
void qzi_run_account_attribute(struct qzi_run_accounts *accounts, struct qzi_run_account *account);

#endif
