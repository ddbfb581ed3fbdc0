/* Scheduling events of a process and all its descendants, reported by the kernel: when each began, executed another
 * program, got a CPU, lost it or ended (perf_event_open, with events that processes inherit).
 *
 * Owns:    an event and a buffer for each CPU.
 * Writer:  the kernel. Reader: one thread.
 * Must not: need privileges (perf_event_paranoid <= 2, Linux's default, suffices), or stop a process.
 */
#ifndef QZI_TASK_EVENTS_H
#define QZI_TASK_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

enum qzi_task_event_kind {
  QZI_TASK_BEGINS,  /* pid, tid; ppid, ptid: its creator */
  QZI_TASK_ENDS,    /* pid, tid */
  QZI_TASK_RUNS,    /* pid, tid got the CPU `cpu` */
  QZI_TASK_STOPS,   /* pid, tid lost its CPU; preempted: it was still runnable */
  QZI_TASK_EXECUTES /* pid, tid now runs the program `name` */
};

struct qzi_task_event {
  enum qzi_task_event_kind kind;
  int cpu, preempted;
  uint64_t ns; /* CLOCK_MONOTONIC */
  uint32_t pid, tid, ppid, ptid;
  char name[16];
};

struct qzi_task_events;

/* Begins to observe the process `pid`, which has one thread, and all processes that will descend from it. Returns NULL
 * with errno if it is not allowed or not supported, or if no memory is left. */
struct qzi_task_events *qzi_task_events_open(pid_t pid);
/* Gets the earliest unread event before `until_ns`. Returns 0 if there is none. The reader sees events of different
 * CPUs with different delays: to get them in order, `until_ns` must be some milliseconds in the past. */
int qzi_task_events_next(struct qzi_task_events *events, uint64_t until_ns, struct qzi_task_event *event);
/* Events lost because a buffer was full. */
uint64_t qzi_task_events_lost(const struct qzi_task_events *events);
void qzi_task_events_close(struct qzi_task_events *events);

#endif
