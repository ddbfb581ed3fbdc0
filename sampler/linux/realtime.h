/* Real-time classes of the kernel's scheduler (sched(7)): their threads get a CPU before all others.
 *
 * Threads: any.
 */
#ifndef QZI_REALTIME_H
#define QZI_REALTIME_H

#include <sys/types.h>

#define QZI_REALTIME_MOST     99u  /* the highest priority */
#define QZI_REALTIME_DEADLINE 100u /* class SCHED_DEADLINE, which comes before all priorities of the others */

/* The real-time priority of a thread; 0: it has none, or has ended. */
unsigned qzi_realtime_of(pid_t tid);
/* Lets a thread (0: the calling one) get CPUs before threads of this priority: by the next higher one; by class
 * SCHED_DEADLINE, with a fifth of a CPU at most, if there is none. Returns 0, or -1 if it may not (root,
 * RLIMIT_RTPRIO).
 */
int qzi_realtime_over(pid_t tid, unsigned priority);

#endif
