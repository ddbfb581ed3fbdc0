/* The message to the user where there is no profile.
 *
 * Owns:    nothing. Writes to stderr, one line.
 */
#ifndef QZI_NO_PROFILE_H
#define QZI_NO_PROFILE_H

#include "abi/program.h"

#define QUARTZ_FAILED 125 /* exit status where Quartz itself has failed */

struct qzi_no_profile {
  const char *program;
  enum qz_program kind;  /* of what was run last */
  const char *unwatched; /* why it was not watched from outside, a clause; NULL: that was not tried */
  int after_exec;        /* 1: that is another program than the one that was launched */
  int layer;             /* 1: the pthread layer was put in */
  int no_proc;           /* 1: the program can't be read in /proc */
  int sandboxed;         /* 1: it was under filters of system calls (seccomp) that we are not under */
};

/* Why the program that was run last is in no profile. */
void qzi_explain_no_profile(const struct qzi_no_profile *absence);
/* Why the program could not be run. The exit status. */
int qzi_launch_failed(const char *program, int error);
/* One clause: what is wrong with /proc, and what to do. */
extern const char qzi_no_proc[];

#endif
