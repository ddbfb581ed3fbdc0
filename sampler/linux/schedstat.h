/* Time for which the program's kernel threads ran on CPUs, and for which they were runnable but waited for one.
 *
 * Owns:    the last reading of each kernel thread that publishes.
 * Writer:  the control thread; the sampling thread, once, when publishing has ended and the kernel threads still exist.
 * Reader:  both.
 * Must not: be read in a snapshot: a reading takes some microseconds for each thread.
 *
 * The kernel keeps both times for every thread (/proc/PID/task/TID/schedstat, Documentation/scheduler/sched-stats.rst).
 * They matter because a program whose threads wait for CPUs looks unbalanced or serial, although the reason is outside
 * the program (docs/reference/metrics.md, section 6).
 */
#ifndef QZI_SCHEDSTAT_H
#define QZI_SCHEDSTAT_H

#include <pthread.h>
#include <sys/types.h>
#include "abi/session_read.h"

/* Counts of one thread since its creation. */
struct qzi_cpu_count {
  uint64_t run_ns, wait_ns, dispatches;
};

struct qzi_cpu_time {
  pthread_mutex_t lock;
  struct qzi_cpu_seen *seen; /* indexed by record of the processor or thread */
  uint32_t room;
  int begun;                        /* 1: the first reading is done; times count from there */
  uint64_t start_ns, due_ns;        /* ns: time of the first reading, and of the next one */
  struct qzi_cpu_count main;        /* counts of the first thread at the first reading */
  uint64_t process_ns;              /* pthread layer: processor time of the process at the first reading; 0: unknown */
  _Atomic uint64_t run_ns, wait_ns; /* since the first reading; both 0: unknown */
  _Atomic uint64_t dispatches;      /* how often the threads got a CPU since the first reading */
};

/* Reads all threads if the next reading is due. Returns the milliseconds until the next one. */
int qzi_cpu_time_tend(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid);
/* Reads all threads now. Time of threads that ended since the last reading is missing. */
void qzi_cpu_time_read(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid);
void qzi_cpu_time_close(struct qzi_cpu_time *time);

/* Number of records of the program's kernel threads, and the kernel's number of one's thread; 0: it has none. */
uint32_t qzi_kernel_threads(const struct qz_session_view *view);
uint32_t qzi_kernel_thread(const struct qz_session_view *view, uint32_t record);

/* Processor time in ns of a process, including ended threads. Returns 0, or -1 if it is gone. */
int qzi_cpu_time_of_process(pid_t pid, uint64_t *run_ns);
/* Counts of one thread; `tasks` is an open /proc/PID/task. Returns 0, or -1 if it is gone, or if the kernel does not
 * count. */
int qzi_cpu_time_of(int tasks, uint32_t tid, struct qzi_cpu_count *count);

#endif
