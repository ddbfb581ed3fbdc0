/* Quartz thread package: the public interface in C.
 *
 * User-level threads on P processors (kernel threads). `main` runs as a thread of the package: linking with -lquartz
 * is enough. There is no preemption: a thread runs until it waits, yields or ends.
 *
 * What holds for all functions, unless the function says otherwise:
 *
 * - Functions that return int return 0 or an error number of <errno.h>, as pthreads do; errno is left alone.
 * - Any thread of the package may call them, and several at the same time. A kernel thread that the program made by
 *   itself may not: that stops the program with one line. Nor may a thread in a blocking region, or a signal
 *   handler.
 * - Times are absolute, as in POSIX: timed functions take one of CLOCK_REALTIME, clock functions one of the clock
 *   that is named (CLOCK_REALTIME or CLOCK_MONOTONIC; EINVAL: another one). Durations are nanoseconds, sizes bytes.
 * - A name is shown in reports. It is copied, and may be NULL.
 */
#ifndef QUARTZ_QUARTZ_H
#define QUARTZ_QUARTZ_H

#include <quartz/thread.h>
#include <quartz/sync.h>
#include <quartz/spin.h>

#endif
