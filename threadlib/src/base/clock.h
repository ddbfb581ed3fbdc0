/* The package's clock. */
#ifndef QZI_BASE_CLOCK_H
#define QZI_BASE_CLOCK_H

#include <time.h>
#include "compiler.h"

#define QZI_NEVER UINT64_MAX /* the deadline of a wait without a time-out */

#pragma GCC visibility push(hidden)

/* Returns monotonic time in ns (CLOCK_MONOTONIC). */
uint64_t qzi_now_ns(void);
/* Converts an absolute time of `clock` to ns of CLOCK_MONOTONIC; a past time may give 0. Returns 0 or EINVAL
 * (unknown clock, invalid tv_nsec). */
int qzi_deadline(int clock, const struct timespec *time, uint64_t *monotonic_ns);

#pragma GCC visibility pop
#endif
