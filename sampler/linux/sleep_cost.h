/* What a short sleep takes of a thread's processor time: the system call, giving the CPU back and getting it again. */
#ifndef QZI_SLEEP_COST_H
#define QZI_SLEEP_COST_H

#include <stdint.h>

/* Processor time of the calling thread for so many sleeps, one after another, in ns. They take some 20 to 100 us each,
 * longer where others have the CPUs. */
uint64_t qzi_sleeps_cpu_ns(unsigned count);
/* Of one: the median of some rounds, as many as there is time for in 5 ms, one at least. */
uint64_t qzi_sleep_cost_ns(void);

#endif
