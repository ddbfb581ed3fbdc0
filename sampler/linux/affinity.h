/* On which CPUs the kernel lets threads run. */
#ifndef QZI_AFFINITY_H
#define QZI_AFFINITY_H

#define QZI_CPUS_MOST 4096 /* capacity of a mask */

/* Number of CPUs in the affinity mask of a process (0: of the calling thread); 0 if unknown. */
unsigned qzi_affinity_count(int pid);
/* Pins the calling thread. Returns 0, or -1 if it may not run there. */
int qzi_affinity_pin(int cpu);
/* Whether the calling thread can be pinned to that CPU: it exists, is online, and may be used. The thread's mask is
 * unchanged afterwards. */
int qzi_affinity_may(int cpu);

#endif
