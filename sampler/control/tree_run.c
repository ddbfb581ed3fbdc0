/* Runs a program and observes it with all processes that descend from it (--tree) into one file. The program is
 * started, timed and sent signals in the same way as a recorded one, but not prepared for recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "control.h"
#include "events.h"
#include "launch.h"
#include "no_profile.h"
#include "sampler/profile/file_name.h"
#include "sampler/tree/observer.h"
#include "sampler/tree/tree_file.h"
#include "sampler/util/clock.h"
#include "sampler/util/numbers.h"

static uint64_t ns_of(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void join(char **argv, char *to, size_t bytes) {
  size_t length = 0;
  for (; *argv && length < bytes; argv++)
    length += (size_t)snprintf(to + length, bytes - length, length ? " %s" : "%s", *argv);
}

/* Writes what is known now; reports a failure on stderr. */
static void finish(const struct qzi_options *options, struct qzi_observer *observer, const char *program,
                   const char *path, pid_t child, uint64_t end_ns, int status) {
  struct rusage used = {0};
  char arguments[1024] = "";
  while (wait4(child, NULL, 0, &used) < 0 && errno == EINTR) {}
  qzi_observer_end(observer, end_ns);
  join(options->program, arguments, sizeof arguments);
  const struct qzi_tree *tree = qzi_observer_tree(observer);
  struct qzi_tree_about about = {.program = program,
                                 .arguments = arguments,
                                 .lost = qzi_observer_lost(observer),
                                 .observer_ns = qzi_observer_cpu_ns(observer),
                                 .user_ns = ns_of(used.ru_utime),
                                 .system_ns = ns_of(used.ru_stime),
                                 .status = status};
  uint64_t elapsed_ns = tree->now_ns - tree->begin_ns;
  char time[QZI_NUMBER];
  if (tree->no_memory) {
    fputs("quartz: no tree: there was not enough memory for the state of its processes\n", stderr);
  } else if (qzi_tree_write(tree, &about, path)) {
    fprintf(stderr, "quartz: cannot write %s: %s; choose another --output\n", path, strerror(errno));
  } else {
    if (options->message_fd >= 0) dprintf(options->message_fd, "%s\n", path);
    if (!options->recording.quiet)
      fprintf(stderr, "quartz: %s: %u process%s in %s; Quartz used %.1f %% of a CPU\n", path, tree->numbers,
              tree->numbers == 1 ? "" : "es", qzi_time_text(time, elapsed_ns),
              100.0 * (double)about.observer_ns / (double)(elapsed_ns + 1));
  }
}

int qzi_tree_run(const struct qzi_options *options) {
  sigset_t before;
  int gate[2];
  char path[4096];
  const char *why, *slash = strrchr(options->program[0], '/'), *program = slash ? slash + 1 : options->program[0];
  if (qzi_name_make(path, sizeof path, options->output ? options->output : "%n.quartztree", program, getpid(),
                    getpid())) {
    fputs("quartz: the file name is too long; choose another --output\n", stderr);
    return QUARTZ_FAILED;
  }
  if (!qzi_name_writable(path)) return QUARTZ_FAILED;
  int signals = qzi_signals_open(&before);
  if (signals < 0 || pipe2(gate, O_CLOEXEC)) {
    fprintf(stderr, "quartz: no tree: %s; raise the limit of open files (ulimit -n)\n", strerror(errno));
    return QUARTZ_FAILED;
  }
  struct qzi_gate held = {.go = gate[0], .open = gate[1]};
  pid_t child = qzi_launch_held(options->program, &held, &before);
  if (child < 0) return qzi_launch_failed(options->program[0], errno);
  struct qzi_observer *observer = qzi_observer_begin(child, program, &why);
  if (!observer) fprintf(stderr, "quartz: no tree: %s; %s runs unobserved\n", why, program);
  close(gate[0]);
  close(gate[1]); /* lets the child continue */
  if (qzi_launch_outcome(&held, child)) {
    if (observer) {
      qzi_observer_end(observer, qzi_clock_ns());
      qzi_observer_free(observer);
    }
    return qzi_launch_failed(options->program[0], errno);
  }
  signal(SIGPIPE, SIG_IGN);
  uint64_t end_ns;
  int code = qzi_wait_for_end(signals, child, &end_ns);
  if (observer) {
    finish(options, observer, program, path, child, end_ns, code);
    qzi_observer_free(observer);
  }
  return code;
}
