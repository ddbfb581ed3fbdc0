/* Cost on this machine of locking and unlocking a free mutex of the C library in a process with several threads. */
#ifndef QZI_FREE_LOCK_COST_H
#define QZI_FREE_LOCK_COST_H

#include <stdint.h>

/* Returns the time of one lock and unlock in picoseconds, the minimum of some batches; takes about 0.1 ms. The calling
 * process must have several threads, because the C library locks differently in a process with one. */
uint64_t qzi_free_lock_ps(void);

#endif
