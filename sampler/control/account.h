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

/* Reaps the child, which has ended, and writes "ELAPSED USER SYSTEM\n" to the descriptor `fd` (-1: to nobody), in ns:
 * elapsed from `begin_ns` to `end_ns`, and the processor time of wait4(2), of the child's own children that it waited
 * for, too. */
void qzi_account(int fd, pid_t child, uint64_t begin_ns, uint64_t end_ns);

#endif
