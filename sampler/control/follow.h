/* What a wrapper starts (timeout, env, a shell, make, mpiexec): which of these processes the recording is of.
 *
 * The pthread layer decides which processes are followed (pthread-layer/src/interpose/follow.c): those that a process
 * starts before it has worked itself. What they and the launched program did is known when it ends. If that was a
 * wrapper, the profile is that of the followed process that used most processor time; of the others those that used a
 * twentieth of it all keep theirs. docs/reference/command-line.md (Wrappers) has the rules.
 *
 * Owns:    the recordings that have ended, until the launched program has. Writer and reader: the control thread.
 */
#ifndef QZI_FOLLOW_H
#define QZI_FOLLOW_H

#include "target.h"

#define QZI_FOLLOWED_MAX 32 /* at once */

/* What is launched is `program`, process `launched`, and what it starts is followed. */
void qzi_follow_begin(const char *program, pid_t launched);
/* 1: one more may be recorded. 0: too many of them did next to nothing: these are the work of a program that starts
 * others all the time (a compiler driver below make), which recording each would slow. */
int qzi_follow_has_room(void);
/* One has ended before it was recorded (newcomers.h), and used so much as is known. */
void qzi_follow_passed(uint64_t used_ns);
/* While they run: names to the front end the profile of the process that does the work, once it is clear which. */
void qzi_follow_look(void);
/* Keeps a recording that was stopped until qzi_follow_settle; 0: it is none of these, and still the caller's. */
int qzi_follow_hold(struct qzi_target *target, uint32_t reason, int32_t status);
/* All recordings have been stopped: decides, says on stderr what was decided where the profile is not that of the
 * launched program, passes its name to the front end, and finishes what is kept. */
void qzi_follow_settle(void);

#endif
