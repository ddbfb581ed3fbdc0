/* The package's clock. */
#ifndef QZI_BASE_CLOCK_H
#define QZI_BASE_CLOCK_H

#include <time.h>
#include "compiler.h"

#define QZI_NEVER UINT64_MAX /* a deadline that does not come */

#pragma GCC visibility push(hidden)

/* Monotonic time, ns (CLOCK_MONOTONIC). */
uint64_t qzi_now_ns(void);
/* Turns an absolute time of `clock` into CLOCK_MONOTONIC ns. EINVAL: bad clock or tv_nsec. A past time gives 0. */
int qzi_deadline(int clock, const struct timespec *time, uint64_t *monotonic_ns);

#pragma GCC visibility pop
#endif
