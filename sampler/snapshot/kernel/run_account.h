/* Chooses the runnable threads that count as having executed, so that the processor time that the kernel counts for
 * each thread is reported completely, and no more than that.
 *
 * Owns:    the part of that time that is still to be reported.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: read anything about threads (linux/task_state.h does), or know call paths.
 *
 * A snapshot shows that a thread was runnable, not that a CPU executed it: the CPU may still be waking up, or other
 * threads may be first. A thread that works for microseconds between sleeps is seen too often in one run, and too
 * rarely in the next. So each thread has an account: time that the kernel counts is added, and each snapshot that
 * counts the thread as executing subtracts its weight. A runnable thread that was attributed more than it had waits for
 * a CPU; a sleeping thread that was attributed too little counts as having executed. Snapshots determine when time was
 * used, the kernel determines how much. (docs/reference/metrics.md, section 6)
 */
#ifndef QZI_RUN_ACCOUNT_H
#define QZI_RUN_ACCOUNT_H

#include <stdint.h>

/* Account of one thread; all zero: nothing is known about it yet. */
struct qzi_run_account {
  uint64_t run_ns;        /* processor time at the last reading */
  uint64_t dispatches;    /* how often it had got a CPU at that time */
  uint64_t late_ns;       /* upper bound of the time it ran that the kernel has not counted yet */
  uint64_t attributed_ns; /* time in tuples */
  int64_t owed_ns;        /* counted by the kernel and not reported yet; negative: attributed too early */
  int known;
  uint16_t alone, beside; /* number of looks, recent ones mostly, that saw it at work alone; with others */
  uint32_t credit;        /* rises by `beside` each time that it may execute beside others, up to their sum */
};

struct qzi_run_accounts {
  uint32_t pid;
  uint32_t processors;
  int readable;           /* 1: the kernel reports the process's processor time, including ended threads */
  uint64_t base_ns;       /* that time when the recording began */
  uint64_t run_ns;        /* since then, at the last reading */
  uint64_t attributed_ns; /* sum over all threads */
  uint64_t due_ns;        /* time of the next reading */
  uint64_t took_ns;       /* CPU time of all readings that are not made for each snapshot */
  uint64_t snapshot_ns;   /* weight of this snapshot, or of one of its parts, */
  uint64_t ahead_ns;      /* and of the parts that follow */
  uint64_t shown_ns;      /* weight of the whole snapshot if it shows which threads have a CPU; else 0 */
  uint64_t late_ns;       /* maximum over the threads that may be running in this snapshot */
  uint64_t read_ns;       /* time of the last reading, */
  uint64_t unread_ns;     /* and how long before this snapshot that was */
  uint64_t lately_ns;     /* recent elapsed time, */
  uint64_t ran_ns;        /* and what the process ran in it */
  int last;               /* 1: the last snapshot: what is owed must be reported now */
  int ended;              /* 1: run_ns is the final time of the process */
};

void qzi_run_accounts_open(struct qzi_run_accounts *accounts, uint32_t pid, uint32_t processors);
/* To be called at the beginning of a snapshot with that weight. For the process's time the kernel sums over its
 * threads, some ns each, so with many threads it is not read every time. */
void qzi_run_accounts_begin(struct qzi_run_accounts *accounts, uint64_t now_ns, uint64_t snapshot_ns, uint32_t threads);
/* The next snapshot is the last one. total_ns: processor time of the process until its end, if known; 0: what the
 * kernel reports. */
void qzi_run_accounts_last(struct qzi_run_accounts *accounts, uint64_t total_ns);
/* The kernel counts run_ns for the thread, and that it got a CPU `dispatches` times (0: unknown). before: 1: it ran
 * before the recording began; that time is not reported. */
void qzi_run_account_read(struct qzi_run_account *account, uint64_t run_ns, uint64_t dispatches, int before);
/* The thread was runnable. */
void qzi_run_account_runs(struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* For a thread that the kernel does not count: it gets `part_ns` of this snapshot as a fair share. */
void qzi_run_account_guess(struct qzi_run_account *account, uint64_t part_ns);

/* CPUs that the process has used lately, on average; `processors` if that is not known yet. */
double qzi_run_accounts_cpus(const struct qzi_run_accounts *accounts);
/* Whether a runnable thread may count as executing. Of several, the one to which most is owed comes first. */
int qzi_run_account_may(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* Whether a sleeping thread, or one that is known to have no CPU, must count as executing. */
int qzi_run_account_must(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account);
/* A look saw the thread at work. with_others: 1: others, too. */
void qzi_run_account_seen(struct qzi_run_account *account, int with_others);
/* Whether a sleeping thread that must count as executing may do so at the same time as others, rather than when nobody
 * does: as often as looks saw it at work beside others. Always, if it was hardly seen at work. */
int qzi_run_account_beside(struct qzi_run_account *account);
/* Whether one of the sleeping threads must count as executing because enough is owed to all together, though not to any
 * single one. Then it is the one to which most, and more than nothing, is owed. */
int qzi_run_accounts_short(const struct qzi_run_accounts *accounts);
/* Whether so much is owed to all together that it does not fit into the snapshot's further parts, one thread at a
 * time. */
int qzi_run_accounts_pressed(const struct qzi_run_accounts *accounts);
/* Whether threads that ended before they were seen must count as executing: the process used more than `owed_ns`, which
 * is owed to all others. */
int qzi_run_accounts_must(const struct qzi_run_accounts *accounts, int64_t owed_ns);
/* The thread counts as executing in this snapshot. */
void qzi_run_account_attribute(struct qzi_run_accounts *accounts, struct qzi_run_account *account);

#endif
