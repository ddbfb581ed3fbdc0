/* What recording a program that is launched and one that is attached to have in common: the programs that are being
 * recorded, the signals that end it, and the wait for both.
 *
 * Owns:    the list of recorded programs. Writer and reader: the control thread.
 */
#ifndef QZI_EVENTS_H
#define QZI_EVENTS_H

#include <signal.h>
#include "abi/program.h"
#include "target.h"

extern struct qzi_target *qzi_targets[QZI_TARGETS_MAX];
extern unsigned qzi_target_count;

/* Of the launched process by exec: what it has become, and the profile of what it was before, if that was worth one. */
struct qzi_exec {
  pid_t pid;
  int happened;
  enum qz_program kind;
  char *kept;
};
extern struct qzi_exec qzi_exec_of;

/* The launched process has called exec; what it ran before is in the file `kept` (ours; NULL: nowhere). */
void qzi_exec_note(char *kept);

/* Ctrl-C and the like come as data, not as interruptions. The mask before goes to the program. A descriptor, or -1. */
int qzi_signals_open(sigset_t *before);
enum qzi_sender {
  QZI_TERMINAL, /* the program has got it, too */
  QZI_FRONT,    /* who started us: `quartz run` passes on what it gets, maybe what we have got already */
  QZI_ANOTHER
};
/* The next signal: its number, and who sent it. 0: none. */
int qzi_signal_next(int signals, enum qzi_sender *sender);
/* A signal that asks us to end asks the child, too. *direct, at first 0: the last SIGINT or SIGQUIT that did not come
 * from QZI_FRONT, which may pass it on again. */
void qzi_pass_on(pid_t child, int *direct, int number, enum qzi_sender sender);
/* Of a child that is not recorded: waits for its end, and passes signals on until then. Its exit code, as a shell gives
 * it; *end_ns: when it ended. The child is still to be waited for. */
int qzi_wait_for_end(int signals, pid_t child, uint64_t *end_ns);

/* Ends the recording of the k-th program; the last one takes its place. */
void qzi_dismiss(unsigned k, uint32_t reason, int32_t status);
void qzi_interrupt_all(void);
/* The same, because the time that was asked for is over. */
void qzi_expire_all(void);
/* Children of a program that has ended: those that have not ended themselves outlive it. */
void qzi_dismiss_children(void);
/* Time in which the sampler was stopped is left out. */
void qzi_stood_still(void);
/* Polls everything; the first `own` polls are the caller's. Attends to the recordings, and to what they read at
 * intervals. child: the launched process, 0: none. */
void qzi_wait_and_attend(struct pollfd *polls, unsigned own, int timeout_ms, pid_t child);
/* Says before the program runs that its profile can't be written: 0. */
int qzi_name_writable(const char *path);

#endif
