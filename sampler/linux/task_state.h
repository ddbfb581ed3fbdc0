/* What the kernel says of one thread of the program: whether it is runnable, and in which call it sleeps.
 *
 * Owns:    open files of /proc/PID/task/TID, and the last answer of each thread that was asked about.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: ask for more than the caller wants: 0.7 us for what the kernel counts, 1.6 for the call, 2.5 for the state.
 */
#ifndef QZI_TASK_STATE_H
#define QZI_TASK_STATE_H

#include <stdint.h>
#include "abi/profile.h"
#include "schedstat.h"

/* The call in which the kernel says that a thread sleeps (/proc/PID/task/TID/syscall). */
struct qzi_asleep {
  int known;
  int rested;          /* 1: the thread has had no CPU since: it still sleeps there, or is woken and waits for one */
  uint64_t dispatches; /* how often it had had one then; 0: unknown */
  long call;           /* number, -1: none (a page fault) */
  uint64_t first;      /* its first argument */
  uint64_t sp, pc;
};

enum qzi_answer { QZI_AWAKE = 0, QZI_ASLEEP, QZI_ON_FUTEX, QZI_GONE };

/* Of one thread record; all zero: not asked yet. */
struct qzi_task_state {
  int state_fd, schedstat_fd, call_fd; /* its `stat`, `schedstat` and `syscall` + 1; 0: not open */
  uint32_t tid;                        /* that they are of */
  uint8_t answer;                      /* last one: enum qzi_answer */
  uint8_t seen;                        /* 1: its state could be read */
  uint8_t unrun;                       /* 1: it was runnable, and has had no CPU since it slept, or since it was made */
  struct qzi_asleep call;              /* that it sleeps in */
  struct qzi_cpu_count count;          /* read with the last answer, */
  uint8_t counted;                     /* and that since it was used: 1 */
};

struct qzi_asker {
  struct qz_profile *head;  /* whose program it is; learns what may not be read */
  uint32_t open, open_most; /* files kept open; how many may be */
  int counts;               /* 1: the kernel counts how often threads are given a CPU */
  int tasks;                /* /proc/PID/task + 1, 0: not open */
  int calls_read;           /* 1: calls may be read, though not those of a process that is ending; */
  int calls_denied;         /* 1: they may not; the state alone is */
  int load;                 /* /proc/loadavg + 1, 0: not open yet, -1: not the kernel's own */
};

/* Of a thread that publishes no wait: sets answer and call. woken: 1: one that sleeps, and has not run since, may have
 * been woken. */
void qzi_ask(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, int woken);
/* Of one that says that it waits: 1: it is runnable, so it has been woken; 0: it sleeps, or the kernel does not say. */
int qzi_ask_runnable(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid);
/* How many threads are runnable on the whole machine, this one included; UINT32_MAX: unknown. */
uint32_t qzi_ask_machine(struct qzi_asker *asker);
/* Processor time of a thread, as the kernel counts it: at its ticks, and when the thread leaves its CPU. 1, or 0: not
 * known. */
int qzi_ask_counted(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, uint64_t *run_ns);
/* Processor time of a thread, 0: not known. */
uint64_t qzi_ask_run_ns(struct qzi_asker *asker, uint32_t tid);
void qzi_task_state_close(struct qzi_asker *asker, struct qzi_task_state *task);
/* Raises the process's limit of open files as far as that helps: where the program is launched, after that. */
void qzi_asker_open(struct qzi_asker *asker, struct qz_profile *head);
void qzi_asker_close(struct qzi_asker *asker);

#endif
