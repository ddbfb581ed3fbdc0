/* Processor time of which the kernel takes no samples: what it spends to take a CPU from a thread that goes to sleep,
 * and to give it one again.
 *
 * Owns:    how much of that each thread had, and how much was attributed.
 * Writer and reader: the aggregating thread, through thread_tracker.c.
 * Must not: take time from threads that hardly ever sleep: there, missing samples are those that a busy (or virtual)
 *          machine did not take, which are missing everywhere alike.
 *
 * The kernel's timer for samples cannot interrupt it while it switches threads; when it may again, the CPU is another
 * thread's, or idle. So a thread that works for 10 us between sleeps has samples for what it executes, each of them an
 * interval of processor time as everywhere, but fewer than its processor time has intervals: of what a sleep takes (15
 * us in a virtual machine) there are next to none. If samples were to stand for all of its time, each would stand for
 * two or three intervals, and what it executes would seem to take as much more. So what is missing is that of its
 * sleeps: a time for each that it was given a CPU, the same for all threads of the program, and no more than a sleep
 * takes.
 */
#ifndef QZI_SWITCH_TIME_H
#define QZI_SWITCH_TIME_H

#include <stdint.h>

/* Of one thread; all zero: nothing is known of it yet. */
struct qzi_switch_time {
  uint64_t run_ns, dispatches; /* as the kernel counts them, when they were read last */
  uint64_t ran_ns, switched;   /* since the recording began */
  uint64_t samples;
  uint64_t attributed_ns;
  int known, matters; /* matters: it is part of the sums below */
};

/* Of all threads. */
struct qzi_switch_times {
  uint64_t most_ns;     /* no switch takes more; 0: not known, none is attributed */
  uint64_t interval_ns; /* of processor time that a sample stands for; 0: there are none */
  int64_t missing_ns;   /* of those that matter: processor time without a sample, */
  uint64_t switches;    /* and how often they were given a CPU */
};

/* The kernel counts so much for the thread. aside: 1: what is new of it is not part of the recording. */
void qzi_switch_time_read(struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t run_ns,
                          uint64_t dispatches, int aside);
/* The kernel took a sample of it. */
void qzi_switch_time_sampled(struct qzi_switch_times *all, struct qzi_switch_time *its);
/* So much of its processor time is to be attributed. 1: that was such time, and counts as attributed; 0: it is to be
 * attributed by samples. */
int qzi_switch_time_take(const struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t ns);

#endif
