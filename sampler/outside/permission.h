/* Whether a process may be observed from outside, and which data the kernel withholds.
 *
 * Owns:    nothing. May be called by any one thread.
 */
#ifndef QZI_OUTSIDE_PERMISSION_H
#define QZI_OUTSIDE_PERMISSION_H

#include <stddef.h>
#include <sys/types.h>

/* Why the existing process `pid` cannot be observed: a clause with advice, possibly built in `text`; NULL if it can. */
const char *qzi_outside_refusal(pid_t pid, char *text, size_t bytes);
/* Returns 1 if the process contains the thread package or the pthread layer. */
int qzi_outside_publishes(pid_t pid);
/* Returns 1 if its memory, and the system calls in which its threads sleep, may be read. */
int qzi_outside_readable(pid_t pid);

#endif
