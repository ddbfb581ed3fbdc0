/* What taking and releasing a free mutex takes on this machine, as the C library does it where there are threads. */
#ifndef QZI_FREE_LOCK_COST_H
#define QZI_FREE_LOCK_COST_H

#include <stdint.h>

/* Picoseconds for both, the least of some batches; about 0.1 ms. In a process that has threads. */
uint64_t qzi_free_lock_ps(void);

#endif
