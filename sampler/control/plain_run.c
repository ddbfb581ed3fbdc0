/* Runs a program without recording it (--plain): the other side of an experiment. Started, timed, and sent signals as a
 * recorded one is; nothing of Quartz is in it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "account.h"
#include "control.h"
#include "events.h"
#include "launch.h"
#include "no_profile.h"
#include "sampler/linux/process.h"
#include "sampler/util/clock.h"

int qzi_plain_run(const struct qzi_options *options) {
  sigset_t before;
  int signals = qzi_signals_open(&before), direct = 0;
  if (signals < 0) {
    fprintf(stderr, "quartz: signals cannot be read: %s; raise the limit of open files (ulimit -n)\n", strerror(errno));
    return QUARTZ_FAILED;
  }
  uint64_t begin_ns = qzi_clock_ns();
  pid_t child = qzi_launch(options->program, NULL, QZI_CHILDREN_NONE, NULL, &before);
  if (child < 0) return qzi_launch_failed(options->program[0], errno);
  for (;;) {
    struct pollfd ready = {.fd = signals, .events = POLLIN};
    poll(&ready, 1, -1);
    uint64_t now_ns = qzi_clock_ns();
    enum qzi_sender sender;
    for (int number; (number = qzi_signal_next(signals, &sender)) != 0;) {
      uint32_t reason;
      int32_t status;
      if (number == SIGCHLD) {
        if (!qzi_child_outcome(child, &reason, &status)) continue;
        qzi_account(options->account_fd, child, begin_ns, now_ns);
        return reason == QZ_END_SIGNAL ? 128 + status : status;
      }
      if (number != SIGCONT) qzi_pass_on(child, &direct, number, sender);
    }
  }
}
