/* quartz-sampler: records a program into a profile. Works without Node. */
#include <errno.h>
#include <stdio.h>
#include "sampler/control/command_time.h"
#include "sampler/control/no_profile.h"
#include "sampler/control/control.h"
#include "sampler/control/launch.h"
#include "sampler/control/rehearsal.h"

/* Quartz can't work here: executes the program in place of the sampler. */
static int step_aside(const struct qzi_options *options) {
  static const char why[] =
    "a system call filter (seccomp) here kills for calls that recording needs; record outside of that sandbox";
  if (options->recording.attached) {
    fprintf(stderr, "quartz: process %ld cannot be recorded: %s\n", (long)options->pid, why);
    return QUARTZ_FAILED;
  }
  fprintf(stderr, "quartz: no profile: %s\n", why);
  qzi_run_instead(options->program);
  return qzi_launch_failed(options->program[0], errno);
}

int main(int argc, char **argv) {
  qzi_command_begins();
  struct qzi_options options;
  int parsed = qzi_options_parse(&options, argc, argv);
  if (parsed) return parsed < 0 ? 2 : 0;
  if (qzi_forbidden()) return step_aside(&options);
  qzi_command_add_start();
  if (options.tree && options.recording.children != QZI_CHILDREN_ALL) return qzi_tree_run(&options);
  if (options.plain) return qzi_plain_run(&options);
  return options.recording.attached ? qzi_attach(&options) : qzi_record(&options);
}
