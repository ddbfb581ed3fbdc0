/* Processor time in which the kernel takes no samples: the time for taking the CPU from a thread that goes to sleep,
 * and for giving it a CPU again.
 *
 * Owns:    how much of that time each thread had, and how much was attributed.
 * Writer and reader: the aggregating thread, through thread_tracker.c.
 * Must not: apply to threads that hardly ever sleep: their missing samples are those that a busy (or virtual)
 *          machine did not take, which are missing everywhere alike.
 *
 * The timer for samples cannot interrupt the kernel while it switches threads; afterwards the CPU is another thread's,
 * or idle. So a thread that works for 10 us between sleeps has one sample for each interval of the time in which it
 * executes its own code, but almost none for the time of the sleeps themselves (15 us each in a virtual machine). If
 * its samples stood for all of its processor time, each would stand for two or three intervals, and its code would seem
 * to take that much longer. Therefore the missing time is attributed to its sleeps: a fixed time for each time that it
 * got a CPU, the same for all threads of the program, and no more than a sleep takes.
 */
#ifndef QZI_SWITCH_TIME_H
#define QZI_SWITCH_TIME_H

#include <stdint.h>

/* Of one thread; all zero: nothing is known about it yet. */
struct qzi_switch_time {
  uint64_t run_ns, dispatches; /* the kernel's counts at the last reading */
  uint64_t ran_ns, switched;   /* since the recording began */
  uint64_t samples;
  uint64_t attributed_ns;
  int known, matters; /* matters: it is included in the sums below */
};

/* Sums over all threads. */
struct qzi_switch_times {
  uint64_t most_ns;     /* upper bound for one switch; 0: unknown, none is attributed */
  uint64_t interval_ns; /* processor time that a sample stands for; 0: there are no samples */
  int64_t missing_ns;   /* of the threads that matter: processor time without a sample, */
  uint64_t switches;    /* and how often they got a CPU */
};

/* Records the kernel's counts for the thread. aside: 1: their increase is not part of the recording. */
void qzi_switch_time_read(struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t run_ns,
                          uint64_t dispatches, int aside);
/* Records that the kernel took a sample of the thread, which stands for so many. */
void qzi_switch_time_sampled(struct qzi_switch_times *all, struct qzi_switch_time *its, uint32_t stands);
/* To be called when `ns` of the thread's processor time are to be attributed. Returns 1 if this is time of switches,
 * which then counts as attributed; 0 if it is to be attributed by samples. */
int qzi_switch_time_take(const struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t ns);

#endif
