/* A session of a program that publishes nothing: the sampler makes it, from what the kernel says of the program's
 * threads.
 *
 * Owns:    a memory file laid out as abi/session.h says, with a record for each thread. Its records call every thread
 *          useful: whether it runs, and where it sleeps, is asked of the kernel by who reads them.
 * Writer:  who opens it, then the aggregating thread.
 * Reader:  the recording, which maps it as any other session.
 * Must not: stop, signal or write to the program.
 */
#ifndef QZI_OUTSIDE_SESSION_H
#define QZI_OUTSIDE_SESSION_H

#include <stdint.h>
#include <sys/types.h>

struct qzi_outside;

/* Creates the session of the process `pid` with its current threads. NULL with a static clause in *why on failure. */
struct qzi_outside *qzi_outside_open(pid_t pid, const char **why);
void qzi_outside_close(struct qzi_outside *outside);
/* The memory file; it remains the session's. */
int qzi_outside_fd(const struct qzi_outside *outside);
/* To be called at the beginning of a snapshot: looks for threads that have begun or ended if the last search is long
 * enough ago. Returns the CPU time that it took in ns. */
uint64_t qzi_outside_begin(struct qzi_outside *outside, uint64_t now_ns);

#endif
