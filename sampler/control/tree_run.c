/* Runs a program and observes it with all processes that descend from it (--tree) into one file. The program is
 * started, timed and sent signals in the same way as a recorded one, but not prepared for recording. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "account.h"
#include "control.h"
#include "events.h"
#include "no_profile.h"
#include "sampler/util/clock.h"
#include "tree_watch.h"

int qzi_tree_run(const struct qzi_options *options) {
  sigset_t before;
  const char *slash = strrchr(options->program[0], '/');
  struct qzi_tree_watch *watch = qzi_tree_watch_new(options->output, slash ? slash + 1 : options->program[0]);
  if (!watch) return QUARTZ_FAILED;
  int signals = qzi_signals_open(&before);
  if (signals < 0) {
    fprintf(stderr, "quartz: no tree: %s; raise the limit of open files (ulimit -n)\n", strerror(errno));
    return QUARTZ_FAILED;
  }
  uint64_t begin_ns = qzi_clock_ns(), end_ns;
  pid_t child = qzi_tree_watch_launch(watch, options->program, NULL, &before);
  if (child < 0) return qzi_launch_failed(options->program[0], errno);
  signal(SIGPIPE, SIG_IGN);
  int code = qzi_wait_for_end(signals, child, &end_ns);
  qzi_account(options->account_fd, child, begin_ns, end_ns, qzi_tree_watch_used(watch));
  qzi_tree_watch_stop(watch, end_ns);
  return qzi_tree_watch_finish(watch, options, code);
}
