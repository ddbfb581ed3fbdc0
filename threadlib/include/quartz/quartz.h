/* Quartz thread package: public interface.
 *
 * User-level threads on P processors (kernel threads). main runs as a thread of the package: linking with
 * -lquartz is enough, qz_init() only changes defaults. Functions that return int return 0 or an error number, as
 * pthreads do; errno is left alone. All functions may be called by any thread of the package; none from a signal
 * handler. Names may be NULL; they are copied.
 */
#ifndef QUARTZ_QUARTZ_H
#define QUARTZ_QUARTZ_H

#include <quartz/thread.h>
#include <quartz/sync.h>
#include <quartz/spin.h>

#endif
