/* On which CPUs the kernel lets threads run. */
#ifndef QZI_AFFINITY_H
#define QZI_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define QZI_CPUS_MOST 4096 /* capacity of a mask */

/* Number of CPUs in the affinity mask of a process (0: of the calling thread); 0 if unknown. */
unsigned qzi_affinity_count(int pid);
/* Pins the calling thread. Returns 0, or -1 if it may not run there. */
int qzi_affinity_pin(int cpu);
/* Whether the calling thread can be pinned to that CPU: it exists, is online, and may be used. The thread's mask is
 * unchanged afterwards. */
int qzi_affinity_may(int cpu);
/* Finds the CPUs on which the program's threads may run: the union over all threads, because threads created later may
 * run on CPUs that are not in the mask of a pinned one (the thread package pins threads). expected: how many CPUs the
 * program could use when it began; if they are fewer now, those of the calling process, which launched it, are added.
 * cpus has QZI_CPUS_MOST bits, in `bytes`. Returns 0, or -1. */
int qzi_affinity_of_threads(uint32_t pid, uint32_t expected, cpu_set_t *cpus, size_t bytes);

#endif
