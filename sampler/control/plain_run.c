/* Runs a program without recording it (--plain), as the baseline of an experiment. It is started, timed and sent
 * signals in the same way as a recorded program, but not prepared for recording. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "account.h"
#include "control.h"
#include "events.h"
#include "launch.h"
#include "no_profile.h"
#include "sampler/util/clock.h"

int qzi_plain_run(const struct qzi_options *options) {
  sigset_t before;
  int signals = qzi_signals_open(&before);
  if (signals < 0) {
    fprintf(stderr, "quartz: signals cannot be read: %s; raise the limit of open files (ulimit -n)\n", strerror(errno));
    return QUARTZ_FAILED;
  }
  uint64_t begin_ns = qzi_clock_ns();
  pid_t child = qzi_launch(options->program, NULL, &before);
  if (child < 0) return qzi_launch_failed(options->program[0], errno);
  uint64_t end_ns;
  int code = qzi_wait_for_end(signals, child, &end_ns);
  qzi_account(options->account_fd, child, begin_ns, end_ns, NULL);
  return code;
}
