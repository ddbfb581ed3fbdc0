/* What a wrapper starts (timeout, env, a shell, make, mpiexec): which of these processes the recording is of.
 *
 * The pthread layer decides which processes are followed (pthread-layer/src/interpose/follow.c): those that a process
 * starts before it has worked itself. What they and the launched program did is known when it ends. If that was a
 * wrapper (or a server that waits for the workers it forks), the profile is that of the followed process that used most
 * processor time; of the others those that used a twentieth of it all keep theirs. docs/reference/command-line.md
 * (Wrappers) has the rules.
 *
 * Owns:    the recordings that have ended, until the launched program has. Writer and reader: the control thread.
 */
#ifndef QZI_FOLLOW_H
#define QZI_FOLLOW_H

#include "target.h"

#define QZI_FOLLOWED_MAX 32 /* recorded at the same time */

/* Begins to follow the processes that `program`, launched as process `launched`, starts. */
void qzi_follow_begin(const char *program, pid_t launched);
/* Returns 1 if another process may be recorded; 0 if too many of them did almost nothing. Such a program starts
 * others all the time (a compiler driver below make), and recording each would slow it. */
int qzi_follow_has_room(void);
/* To be called for a followed process that ended before it was recorded (newcomers.h); used_ns: its processor time. */
void qzi_follow_passed(uint64_t used_ns);
/* The same process would have been recorded if the sampler had had a CPU in time: that is said in the end. */
void qzi_follow_missed(pid_t pid);
/* While processes run: reports the profile of the one that does the work to the front end, once it is known. */
void qzi_follow_look(void);
/* Keeps a stopped recording until qzi_follow_settle. Returns 0 if the recording is not a followed one and remains
 * the caller's. */
int qzi_follow_hold(struct qzi_target *target, uint32_t reason, int32_t status);
/* To be called when all recordings have been stopped: selects the profile, reports on stderr if it is not the
 * launched program's, passes its name to the front end, and finishes the recordings to be kept. */
void qzi_follow_settle(void);

#endif
