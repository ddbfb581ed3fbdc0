/* Processor time of a short sleep: the system call, giving up the CPU and getting it again. */
#ifndef QZI_SLEEP_COST_H
#define QZI_SLEEP_COST_H

#include <stdint.h>

/* Processor time in ns of the calling thread for that many sleeps, one after another. Each takes 20 to 100 us of
 * elapsed time, or longer if other programs occupy the CPUs. */
uint64_t qzi_sleeps_cpu_ns(unsigned count);
/* Processor time in ns of one sleep: the median of as many rounds as fit into 5 ms, at least one. */
uint64_t qzi_sleep_cost_ns(void);

#endif
