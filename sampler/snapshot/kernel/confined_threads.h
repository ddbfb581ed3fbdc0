/* Threads that are confined to fewer CPUs than the program may use, by their affinity masks (sched_setaffinity,
 * pthread_setaffinity_np, OpenMP's places, a pinning that goes wrong): while more of them are runnable than they may
 * use CPUs together, other CPUs stay idle. */
#ifndef QZI_CONFINED_THREADS_H
#define QZI_CONFINED_THREADS_H

#include <stdint.h>
#include "abi/profile_rows.h"

/* Looks at the masks of runnable threads at intervals of 10 ms, or more where a look takes many system calls. It ends
 * with the first threads that may use all CPUs, so it is one system call where nobody confines threads. */
struct qzi_confinement {
  uint64_t looked_ns, due_ns; /* when the last look was, and when the next one will be */
  uint32_t cpus;              /* number of CPUs that the runnable threads could use at the last look; 0: all */
};

/* Whether it is time for a look. */
int qzi_confinement_due(const struct qzi_confinement *confinement, uint64_t now_ns);
/* Looks at the threads with the kernel's numbers `tids`, which are runnable, on `processors` CPUs, and adds the time
 * since the last look, or a little if that is long ago, to `row` if they are confined. */
void qzi_confinement_look(struct qzi_confinement *confinement, struct qz_cpu_limits *row, const uint32_t *tids,
                          uint32_t count, uint32_t processors, uint64_t now_ns);

#endif
