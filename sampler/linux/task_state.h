/* The kernel's view of one thread of the program: whether it is runnable, and in which call it sleeps.
 *
 * Owns:    open files of /proc/PID/task/TID, and the last answer for each thread.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: read more than the caller needs: the kernel's counts take 0.7 us, the call 1.6 us, the state 2.5 us,
 *          whether it has a CPU 4 us.
 */
#ifndef QZI_TASK_STATE_H
#define QZI_TASK_STATE_H

#include <stdint.h>
#include "abi/profile.h"
#include "schedstat.h"

/* The call in which a thread sleeps (/proc/PID/task/TID/syscall). */
struct qzi_asleep {
  int known;
  int rested;          /* 1: the thread got no CPU since: it still sleeps there, or was woken and waits for a CPU */
  uint64_t dispatches; /* how often it had got a CPU at that time; 0: unknown */
  long call;           /* number of the call; -1: none (a page fault) */
  uint64_t first;      /* first argument of the call */
  uint64_t sp, pc;
};

enum qzi_answer { QZI_AWAKE = 0, QZI_ASLEEP, QZI_ON_FUTEX, QZI_GONE };

/* State of one thread record; all zero: not read yet. */
struct qzi_task_state {
  /* descriptors of its `stat`, `schedstat`, `syscall` and `status` + 1; 0: not open */
  int state_fd, schedstat_fd, call_fd, status_fd;
  uint32_t tid;               /* the thread that these belong to */
  uint8_t answer;             /* the last answer: enum qzi_answer */
  uint8_t seen;               /* 1: a file of the thread could be read */
  uint8_t unrun;              /* 1: it is runnable, and got no CPU since it slept or was created */
  struct qzi_asleep call;     /* the call in which it sleeps */
  struct qzi_cpu_count count; /* read with the last answer */
  uint8_t counted;            /* 1: `count` was not used since it was read */
};

struct qzi_asker {
  struct qz_profile *head;  /* profile of the program; its flags record what may not be read */
  uint32_t open, open_most; /* number of files kept open; maximum number */
  int counts;               /* 1: the kernel counts how often threads are given a CPU */
  int tasks;                /* /proc/PID/task + 1, 0: not open */
  int calls_read;           /* 1: calls may be read, except those of a process that is ending */
  int calls_denied;         /* 1: calls may not be read; only states are */
  int load;                 /* /proc/loadavg + 1; 0: not open yet; -1: not the kernel's own file */
};

/* For a thread that publishes no wait: sets answer and call. woken: 1: if it slept and got no CPU since, check whether
 * it was woken. */
void qzi_ask(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, int woken);
/* For a thread whose record says that it waits. Returns 1 if it is runnable, so it has been woken; 0 if it sleeps, or
 * if the kernel does not say. */
int qzi_ask_runnable(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid);
/* Whether a runnable thread is on a CPU: it was given one more often than it left one. -1: unknown (also if the caller
 * lost its own CPU while it asked). */
int qzi_ask_on_cpu(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid);
/* The CPU that it is on, or was on last; -1: unknown. */
int qzi_ask_last_cpu(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid);
/* Number of runnable threads of the whole machine, including the caller; UINT32_MAX: unknown. */
uint32_t qzi_ask_machine(struct qzi_asker *asker);
/* Processor time in ns of a thread as the kernel counts it: at its ticks, and when the thread leaves its CPU. Returns
 * 1; 0 if unknown. */
int qzi_ask_counted(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, uint64_t *run_ns);
/* Processor time in ns of a thread; 0: unknown. */
uint64_t qzi_ask_run_ns(struct qzi_asker *asker, uint32_t tid);
void qzi_task_state_close(struct qzi_asker *asker, struct qzi_task_state *task);
/* Raises the process's limit of open files as far as useful. To be called after the program was launched, so that the
 * program does not inherit the limit. */
void qzi_asker_open(struct qzi_asker *asker, struct qz_profile *head);
void qzi_asker_close(struct qzi_asker *asker);

#endif
