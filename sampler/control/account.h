/* What a run took, as the kernel counts it: for experiments that compare runs (`quartz run --measure`). A recorded run
 * and one without Quartz are started and timed by the same functions, so that their times differ by recording alone.
 *
 * Owns:    nothing. Writer: the control thread. Reader: the front end, through a descriptor.
 * Must not: count the sampler, or what it does after the program's end.
 */
#ifndef QZI_ACCOUNT_H
#define QZI_ACCOUNT_H

#include <stdint.h>
#include <sys/types.h>

/* Reaps the child, which must have ended, and writes "ELAPSED USER SYSTEM\n" to the descriptor `fd` (-1: does not
 * write), in ns: the time from `begin_ns` to `end_ns`, and the processor time by wait4(2), which includes child
 * processes that the child waited for. *used (NULL: not wanted) receives that processor time, too. */
struct rusage;
void qzi_account(int fd, pid_t child, uint64_t begin_ns, uint64_t end_ns, struct rusage *used);

#endif
