/* What the kernel says of all processes that descend from one: when each began, ran another program, got a CPU, lost it
 * or ended, with the time of each (perf_event_open, with events that processes inherit).
 *
 * Owns:    an event and a buffer for each CPU.
 * Writer:  the kernel. Reader: one thread.
 * Must not: need privileges (it does without at perf_event_paranoid <= 2, Linux's own default), or stop a process.
 */
#ifndef QZI_TASK_EVENTS_H
#define QZI_TASK_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

enum qzi_task_event_kind {
  QZI_TASK_BEGINS,  /* pid, tid; ppid, ptid: who made it */
  QZI_TASK_ENDS,    /* pid, tid */
  QZI_TASK_RUNS,    /* pid, tid got the CPU `cpu` */
  QZI_TASK_STOPS,   /* lost it; preempted: it could go on */
  QZI_TASK_EXECUTES /* it runs `name` now */
};

struct qzi_task_event {
  enum qzi_task_event_kind kind;
  int cpu, preempted;
  uint64_t ns; /* CLOCK_MONOTONIC */
  uint32_t pid, tid, ppid, ptid;
  char name[16];
};

struct qzi_task_events;

/* Begins with the process `pid`, which has one thread, and all that descends from it. NULL and errno: not allowed, not
 * there, no memory left. */
struct qzi_task_events *qzi_task_events_open(pid_t pid);
/* The earliest one before `until_ns` that was not read yet. 0: there is none. Events of different CPUs reach the reader
 * late, each at its own time: `until_ns` has to be some milliseconds ago. */
int qzi_task_events_next(struct qzi_task_events *events, uint64_t until_ns, struct qzi_task_event *event);
/* Events that found no room in a buffer. */
uint64_t qzi_task_events_lost(const struct qzi_task_events *events);
/* CPUs that have a buffer. */
unsigned qzi_task_events_cpus(const struct qzi_task_events *events);
void qzi_task_events_close(struct qzi_task_events *events);

#endif
