/* On which CPUs the kernel lets threads run. */
#ifndef QZI_AFFINITY_H
#define QZI_AFFINITY_H

#define QZI_CPUS_MOST 4096 /* in a mask */

/* CPUs in the affinity mask of a process (0: the calling thread's), 0 if unknown. */
unsigned qzi_affinity_count(int pid);
/* Pins the calling thread. 0, or -1. */
int qzi_affinity_pin(int cpu);
/* 1: the calling thread could be pinned there: the CPU exists, is on, and may be used. Leaves the thread as it was. */
int qzi_affinity_may(int cpu);

#endif
