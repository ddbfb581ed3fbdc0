/* What recording a launched program and an attached one have in common: the signals that end the recording, and waiting
 * for them and for the recorded programs.
 *
 * Owns:    what is known of the launched process's exec. Writer and reader: the control thread.
 */
#ifndef QZI_EVENTS_H
#define QZI_EVENTS_H

#include <signal.h>
#include "abi/program.h"
#include "target.h"

/* The launched process has executed another program: which one, and the profile of the previous one if it was kept. */
struct qzi_exec {
  pid_t pid;
  int happened;
  enum qz_program kind;
  char *kept;
};
extern struct qzi_exec qzi_exec_of;

/* Blocks SIGINT and the like and returns a descriptor from which they can be read, or -1. *before receives the
 * previous mask, which is for the program. */
int qzi_signals_open(sigset_t *before);
enum qzi_sender {
  QZI_TERMINAL, /* the terminal has sent it to the program as well */
  QZI_FRONT, /* sent by the process that started us: `quartz run` passes on signals, perhaps one that we have received
                already */
  QZI_ANOTHER
};
/* Reads the next signal: returns its number and sets its sender; 0 if there is none. */
int qzi_signal_next(int signals, enum qzi_sender *sender);
/* Passes a signal that asks us to end on to the child. *direct, initially 0: the last SIGINT or SIGQUIT that did not
 * come from QZI_FRONT, which may forward the same one. */
void qzi_pass_on(pid_t child, int *direct, int number, enum qzi_sender sender);
/* Waits for the end of a child that is not recorded, and passes signals on to it. Returns its exit code as a shell
 * does; *end_ns: the time of its end. The caller still has to reap the child. */
int qzi_wait_for_end(int signals, pid_t child, uint64_t *end_ns);

/* Ends the recording of the k-th program; the last one takes its place. */
void qzi_dismiss(unsigned k, uint32_t reason, int32_t status);
void qzi_interrupt_all(void);
/* Ends all recordings because the requested time is over. */
void qzi_expire_all(void);
/* Ends the recordings of children of a program that has ended: those that are still alive outlive it. */
void qzi_dismiss_children(void);
/* Excludes the time during which the sampler was stopped from all recordings. */
void qzi_stood_still(void);
/* Polls for all events, the first `own` of which are the caller's, and performs periodic work of the recordings.
 * child: the launched process, 0 if none. */
void qzi_wait_and_attend(struct pollfd *polls, unsigned own, int timeout_ms, pid_t child);
/* Checks that the profile can be written before the program runs; if not, reports it on stderr and returns 0. */
int qzi_name_writable(const char *path);

#endif
