/* Keeps a sampling thread that sleeps between snapshots off the CPUs on which the program executes, while there are
 * others. A thread of a real-time class that wakes displaces whatever runs where it slept, even if another CPU is idle.
 *
 * Owns:    the affinity of the calling thread. Writer and reader: the first sampling thread.
 * Must not: be used where that thread is pinned to one CPU.
 */
#ifndef QZI_OWN_CPU_H
#define QZI_OWN_CPU_H

#include <sched.h>
#include <stdint.h>
#include "sampler/snapshot/used_cpus.h"

struct qzi_own_cpu {
  cpu_set_t allowed, chosen;
  int follows;      /* 1: it may be moved */
  uint64_t look_ns; /* time of the next look */
};

/* may 0: it stays where it is. */
void qzi_own_cpu_begin(struct qzi_own_cpu *own, int may);
/* After a snapshot; runnable: the program's threads that could run. */
void qzi_own_cpu_look(struct qzi_own_cpu *own, const struct qzi_used_cpus *used, uint32_t runnable, uint64_t now_ns);
/* The allowed CPUs on which no sample was found since that time; all allowed ones, if there is none, or if so many
 * threads could run that they need all. */
void qzi_own_cpu_choose(cpu_set_t *chosen, const cpu_set_t *allowed, const struct qzi_used_cpus *used,
                        uint64_t since_ns, uint32_t runnable);

#endif
