/* Whether a process can be watched from outside, and what the kernel keeps from us.
 *
 * Owns:    nothing. Any one thread.
 */
#ifndef QZI_OUTSIDE_PERMISSION_H
#define QZI_OUTSIDE_PERMISSION_H

#include <stddef.h>
#include <sys/types.h>

/* Why the process `pid`, which is there, can't be watched, in a clause with what to do; NULL: it can. `text` is room
 * for one that is made. */
const char *qzi_outside_refusal(pid_t pid, char *text, size_t bytes);
/* 1: it carries the thread package or the pthread layer. */
int qzi_outside_publishes(pid_t pid);
/* 1: its memory, and the calls in which its threads sleep, may be read. */
int qzi_outside_readable(pid_t pid);

#endif
