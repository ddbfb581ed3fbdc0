/* The message to the user where there is no profile.
 *
 * Owns:    nothing. Writes to stderr, one line.
 */
#ifndef QZI_NO_PROFILE_H
#define QZI_NO_PROFILE_H

#include <signal.h>
#include "abi/program.h"

#define QUARTZ_FAILED 125 /* exit status where Quartz itself has failed */

struct qzi_no_profile {
  const char *program;
  enum qz_program kind;  /* of the last program that was executed */
  const char *unwatched; /* why it was not observed from outside, a clause; NULL: not attempted */
  int after_exec;        /* 1: the last program is not the one that was launched */
  int layer;             /* 1: the pthread layer was preloaded */
  int no_proc;           /* 1: the program's /proc entries cannot be read */
  int sandboxed;         /* 1: it ran under a system call filter (seccomp) that does not apply to us */
};

/* Prints why there is no profile of the last program. */
void qzi_explain_no_profile(const struct qzi_no_profile *absence);
/* Whether too few more processes and threads can be started for sampler and program; then it prints so. */
int qzi_tasks_are_short(void);
/* Quartz cannot work here, which has been printed: executes the program in place of this process, with that signal
 * mask. Returns only on failure, which it prints, with the exit status. */
int qzi_run_alone(char **argv, const sigset_t *mask);
/* Prints why the program could not be executed. Returns the exit status. */
int qzi_launch_failed(const char *program, int error);
/* A clause: what is wrong with /proc, and what to do. */
extern const char qzi_no_proc[];

#endif
