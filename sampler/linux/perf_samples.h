/* What running threads execute, without hooks: samples that the kernel takes of them (perf_event_open).
 *
 * Owns:    the events and their buffers.
 * Writer:  the kernel. Reader: the aggregating thread.
 * Must not: disturb the program more than the timer interrupt that takes a sample; need privileges (it does without at
 *          perf_event_paranoid <= 2, Linux's own default; Debian's 3 and some containers forbid it).
 *
 * A sample is taken after each interval of processor time: instruction, stack pointer, frame pointer, and a copy of the
 * top of the stack, from which the callers are found (unwinder.h).
 *
 * Where the user may (root; kernel.perf_event_paranoid 0 or less), the events are those of the CPUs, whatever runs
 * there, and what is not of the program is thrown away: their timers run on whichever thread runs, so that switches of
 * threads cost no more than without them.
 *
 * Else there is one event for each CPU, which threads inherit from the one that made them. Where the kernel switches
 * from one thread of the program to another, such events go on as they are: an event that belongs to one thread alone
 * is stopped and the other's is started, each with its timer, which costs more than the switch itself. Time is that of
 * the program's threads on that CPU, so that each has samples in proportion to what it runs. On machines with many
 * CPUs, where every new thread would have to be given as many events, each thread has one of its own.
 */
#ifndef QZI_PERF_SAMPLES_H
#define QZI_PERF_SAMPLES_H

#include "thread_sample.h"

#define QZI_RUNNING_STACK 4096u /* bytes of stack in a sample */
#define QZI_RUNNING_CPUS  32u   /* with more, each thread has its own event */

struct qzi_running;

/* Begins to sample the threads that the program has, and those that they create. NULL and errno: not allowed, not
 * there, no memory left for it. cpus: how many it may use, where its first thread may have been pinned to fewer since.
 * cpus_most: QZI_RUNNING_CPUS, or less. whole: events of CPUs are tried. */
struct qzi_running *qzi_running_open(uint32_t pid, uint32_t cpus, uint64_t interval_ns, uint32_t cpus_most, int whole);
/* What is counted in place of time, in the program's own code (in user mode): a sample after each `period` of it. */
struct qzi_event {
  uint32_t type; /* as struct perf_event_attr has it */
  uint64_t config, period;
};
/* The same of what is counted; `event` must last as long. NULL and errno: likewise, or nothing counts that here. */
struct qzi_running *qzi_running_count(uint32_t pid, uint32_t cpus, const struct qzi_event *event, uint32_t cpus_most,
                                      int whole);
/* 1: the events are those of CPUs, and cost nothing where threads are switched. */
int qzi_running_whole(const struct qzi_running *running);
/* Processor time between samples; 0 without. */
uint64_t qzi_running_interval_ns(const struct qzi_running *running);
void qzi_running_close(struct qzi_running *running);
/* A thread was seen for the first time; it ended. 0, or -1 and errno: it can't be sampled. */
int qzi_running_begin(struct qzi_running *running, uint32_t tid);
void qzi_running_end(struct qzi_running *running, uint32_t tid);
/* Takes no samples until it is called with 0. */
void qzi_running_pause(struct qzi_running *running, int pause);

struct qzi_sample {
  struct qzi_registers at;
  uint64_t registers;   /* sum of all general registers */
  uint64_t general[16]; /* by their numbers (x86-64) */
  uint32_t tid;
  int cpu; /* that it was taken on; -1: not known */
  uint64_t
    count;  /* 1, and those before it on that CPU that were lost (events of CPUs: it is not known whose they were) */
  int user; /* 1: in code of the program, not in the kernel on its behalf */
  struct qzi_stack_copy copy; /* `data` lies in `bytes` */
  unsigned char bytes[QZI_RUNNING_STACK];
};
/* The next sample that was not read yet, of any thread. 0: there is none now. */
int qzi_running_next(struct qzi_running *running, struct qzi_sample *sample);

/* Processes that the program has made since the last call, not counting what these made; as far as events were read,
 * and not paused. */
uint32_t qzi_running_forked(struct qzi_running *running);

/* What one sample takes from the thread that it is of: the median of some, taken of the calling thread, which computes
 * for half a millisecond, at the first call. 0: not known. */
uint64_t qzi_running_cost_ns(void);
/* What the timer of such an event takes from a thread that gets a CPU which was idle, and gives it back, measured here;
 * 0: unknown. */
uint64_t qzi_perf_timer_ns(void);

#endif
