/* See tree_watch.h. */
#include "tree_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "events.h"
#include "sampler/profile/file_name.h"
#include "sampler/tree/observer.h"
#include "sampler/tree/tree_file.h"
#include "sampler/util/clock.h"
#include "sampler/util/numbers.h"

#define OF_TREES    ".quartztree"
#define OF_PROFILES ".quartz"

static uint64_t ns_of(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void join(char **argv, char *to, size_t bytes) {
  size_t length = 0;
  for (; *argv && length < bytes; argv++)
    length += (size_t)snprintf(to + length, bytes - length, length ? " %s" : "%s", *argv);
}

struct qzi_tree_watch {
  struct qzi_observer *observer; /* NULL: not observed */
  struct rusage used;
  char program[256];
  char path[4096];
};

struct qzi_tree_watch *qzi_tree_watch_new(const char *pattern, const char *program) {
  static struct qzi_tree_watch only, *watch = &only;
  snprintf(watch->program, sizeof watch->program, "%s", program);
  if (!pattern) pattern = "%n" OF_TREES;
  size_t length = strlen(pattern), of_profiles = strlen(OF_PROFILES);
  char own[4096];
  int is_profile = length >= of_profiles && !strcmp(pattern + length - of_profiles, OF_PROFILES);
  if (is_profile && length + 5 <= sizeof own) {
    snprintf(own, sizeof own, "%s%s", pattern, OF_TREES + of_profiles);
    pattern = own;
  }
  int too_long = qzi_name_make(watch->path, sizeof watch->path, pattern, program, getpid(), getpid());
  if (too_long) fputs("quartz: the file name is too long; choose another --output\n", stderr);
  return !too_long && qzi_name_writable(watch->path) ? watch : NULL;
}

static void forget(struct qzi_tree_watch *watch) {
  if (watch->observer) qzi_observer_free(watch->observer);
  watch->observer = NULL;
}

pid_t qzi_tree_watch_launch(struct qzi_tree_watch *watch, char **argv, const struct qzi_prepared *how,
                            const sigset_t *mask) {
  int gate[2];
  const char *why;
  if (!watch) return qzi_launch(argv, how, mask);
  if (pipe2(gate, O_CLOEXEC)) return QZI_NO_PROCESS;
  struct qzi_gate held = {.go = gate[0], .open = gate[1]};
  pid_t child = qzi_launch_held(argv, how, &held, mask);
  if (child > 0) watch->observer = qzi_observer_begin(child, watch->program, &why);
  if (child > 0 && !watch->observer) fprintf(stderr, "quartz: no tree: %s; %s runs unobserved\n", why, watch->program);
  close(gate[0]);
  close(gate[1]); /* lets the child continue */
  if (child < 0 || !qzi_launch_outcome(&held, child)) return child;
  int error = errno;
  qzi_tree_watch_stop(watch, qzi_clock_ns());
  forget(watch);
  errno = error;
  return -1;
}

void qzi_tree_watch_stop(struct qzi_tree_watch *watch, uint64_t end_ns) {
  if (watch && watch->observer) qzi_observer_end(watch->observer, end_ns);
}

struct rusage *qzi_tree_watch_used(struct qzi_tree_watch *watch) {
  return watch ? &watch->used : NULL;
}

int qzi_tree_watch_finish(struct qzi_tree_watch *watch, const struct qzi_options *options, int code) {
  if (!watch || !watch->observer) return code;
  char arguments[1024] = "";
  join(options->program, arguments, sizeof arguments);
  const struct qzi_tree *tree = qzi_observer_tree(watch->observer);
  struct qzi_tree_about about = {.program = watch->program,
                                 .arguments = arguments,
                                 .lost = qzi_observer_lost(watch->observer),
                                 .observer_ns = qzi_observer_cpu_ns(watch->observer),
                                 .user_ns = ns_of(watch->used.ru_utime),
                                 .system_ns = ns_of(watch->used.ru_stime),
                                 .status = code};
  uint64_t elapsed_ns = tree->now_ns - tree->begin_ns;
  char time[QZI_NUMBER];
  if (tree->no_memory) {
    fputs("quartz: no tree: there was not enough memory for the state of its processes\n", stderr);
  } else if (qzi_tree_write(tree, &about, watch->path)) {
    fprintf(stderr, "quartz: cannot write %s: %s; choose another --output\n", watch->path, strerror(errno));
  } else {
    if (options->message_fd >= 0) dprintf(options->message_fd, "%s\n", watch->path);
    if (!options->recording.quiet)
      fprintf(stderr, "quartz: %s: %u process%s in %s; Quartz used %.1f %% of a CPU\n", watch->path, tree->numbers,
              tree->numbers == 1 ? "" : "es", qzi_time_text(time, elapsed_ns),
              100.0 * (double)about.observer_ns / (double)(elapsed_ns + 1));
  }
  forget(watch);
  return code;
}
