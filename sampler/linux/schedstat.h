/* How long the program's kernel threads ran on CPUs, and how long they were runnable but waited for one.
 *
 * Owns:    what was read last of each kernel thread that publishes.
 * Writer:  the control thread; the sampling thread, once, when publishing has ended and the kernel threads are still
 * there. Reader:  both. Must not: be read in a snapshot: a reading takes some microseconds a thread.
 *
 * The kernel keeps both for every thread (/proc/PID/task/TID/schedstat, Documentation/scheduler/sched-stats.rst). A
 * program whose threads wait for CPUs looks unbalanced or serial for a reason that is not in it
 * (docs/reference/metrics.md, section 6).
 */
#ifndef QZI_SCHEDSTAT_H
#define QZI_SCHEDSTAT_H

#include <pthread.h>
#include <sys/types.h>
#include "abi/session_read.h"

/* Of one thread, since it began. */
struct qzi_cpu_count {
  uint64_t run_ns, wait_ns, dispatches;
};

struct qzi_cpu_time {
  pthread_mutex_t lock;
  struct qzi_cpu_seen *seen; /* by record of processor or thread */
  uint32_t room;
  int begun;                        /* 1: what counts is what comes after the first reading */
  uint64_t start_ns, due_ns;        /* first reading, next one */
  struct qzi_cpu_count main;        /* of the first thread, at the first reading */
  uint64_t process_ns;              /* pthread layer: of the process, then; 0: not known */
  _Atomic uint64_t run_ns, wait_ns; /* since the first reading; 0, 0: not known */
  _Atomic uint64_t dispatches;      /* how often they were given a CPU, likewise */
};

/* Reads all threads where that is due. Returns the milliseconds until it is due again. */
int qzi_cpu_time_tend(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid);
/* Reads them now: what ended since the last reading is missing. */
void qzi_cpu_time_read(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid);
void qzi_cpu_time_close(struct qzi_cpu_time *time);

/* Processor time of a process, its ended threads included. 0, or -1: it is gone. */
int qzi_cpu_time_of_process(pid_t pid, uint64_t *run_ns);
/* Of one thread: `tasks` is an open /proc/PID/task. 0, or -1: it is gone, or the kernel does not say. */
int qzi_cpu_time_of(int tasks, uint32_t tid, struct qzi_cpu_count *count);

#endif
