/* Starting the program to be recorded. */
#ifndef QZI_LAUNCH_H
#define QZI_LAUNCH_H

#include <signal.h>
#include <sys/types.h>
#include "sampler/recording/request.h"

/* How the program is prepared for recording: QUARTZ_SESSION=name, what QUARTZ_CHILDREN is for `children`, and the
 * pthread layer at the path `layer` (NULL: none) in front of its libraries. */
struct qzi_prepared {
  const char *name;
  enum qzi_children children;
  const char *layer;
};
/* Runs argv[0] (searched in PATH), prepared like that (NULL: not; in our environment as it is), with the given signal
 * mask. The program is our child, in our process group: the terminal's signals reach it without us, and our death does
 * not end it. Returns its pid; -1 and errno where it can't be run; QZI_NO_PROCESS and errno where no process can be
 * made for it. */
#define QZI_NO_PROCESS (-2)
pid_t qzi_launch(char **argv, const struct qzi_prepared *how, const sigset_t *mask);
/* The same in two steps: the child waits until the other end `open` of the pipe `go` is closed; then qzi_launch_outcome
 * returns 0 if it runs, or -1 with errno, in which case the child has been reaped. */
struct qzi_gate {
  int go, open, report; /* report: set by qzi_launch_held */
};
pid_t qzi_launch_held(char **argv, const struct qzi_prepared *how, struct qzi_gate *gate, const sigset_t *mask);
int qzi_launch_outcome(const struct qzi_gate *gate, pid_t child);
/* Executes the program in place of this process, without preparing it for recording. Returns only on failure, with
 * errno. */
void qzi_run_instead(char **argv);

#endif
