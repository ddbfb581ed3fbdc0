/* Quartz thread package: the public interface in C.
 *
 * The package runs user-level threads on P processors (kernel threads). `main` runs as a thread of the package: a
 * program only has to link with -lquartz. There is no preemption: a thread runs until it waits, yields or ends.
 *
 * The following holds for every function unless its comment says otherwise:
 *
 * - A function that returns int returns 0 on success or an error number of <errno.h>, like the pthread functions. It
 *   does not change errno.
 * - Every thread of the package may call it, and several threads may call it at the same time. A kernel thread that the
 *   program created itself must not call it: the program is then aborted with a message of one line. Neither may a
 *   thread in a blocking region, nor a signal handler.
 * - Times are absolute, as in POSIX. A timed function takes a time of CLOCK_REALTIME; a clock function takes a time of
 *   the clock that its argument names, CLOCK_REALTIME or CLOCK_MONOTONIC, and returns EINVAL for any other clock.
 *   Durations are in nanoseconds, sizes in bytes.
 * - A name is shown in reports. The function copies it; it may be NULL.
 */
#ifndef QUARTZ_QUARTZ_H
#define QUARTZ_QUARTZ_H

#include <quartz/thread.h>
#include <quartz/sync.h>
#include <quartz/spin.h>

#endif
