/* fork and exec, with the error of exec reported to the parent. See launch.h. */
#include "launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/channel.h"
#include "preload.h"

/* Whether the file is an ELF file. execvp passes files that the kernel cannot execute to the shell, which is right
 * for scripts but not for programs of another architecture. */
static int is_elf(const char *path) {
  char magic[4] = "";
  int fd = strchr(path, '/') ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t got = read(fd, magic, sizeof magic);
  close(fd);
  return got == (ssize_t)sizeof magic && !memcmp(magic, ELFMAG, SELFMAG);
}

void qzi_run_instead(char **argv) {
  if (is_elf(argv[0]))
    execv(argv[0], argv);
  else
    execvp(argv[0], argv);
}

static int set_children(enum qzi_children children) {
  if (children == QZI_CHILDREN_NONE) return unsetenv(QZ_CHILDREN_ENV);
  return setenv(QZ_CHILDREN_ENV, children == QZI_CHILDREN_ALL ? QZ_CHILDREN_ALL : QZ_CHILDREN_FOLLOW, 1);
}

static int prepare(const struct qzi_prepared *how) {
  if (!how) return 0;
  if (setenv(QZ_CHANNEL_ENV, how->name, 1) || set_children(how->children)) return -1;
  return how->layer ? qzi_layer_preload(how->layer) : 0;
}

/* gate->go -1: the child does not wait. */
pid_t qzi_launch_held(char **argv, const struct qzi_prepared *how, struct qzi_gate *gate, const sigset_t *mask) {
  int report[2], error = 0;
  if (pipe2(report, O_CLOEXEC)) return QZI_NO_PROCESS;
  pid_t pid = fork();
  if (pid < 0) {
    error = errno;
    close(report[0]);
    close(report[1]);
    errno = error;
    return QZI_NO_PROCESS;
  }
  if (pid == 0) {
    char end;
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (prepare(how)) error = errno;
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (gate->go >= 0) {
      close(gate->open);
      while (read(gate->go, &end, 1) < 0 && errno == EINTR) {}
    }
    if (!error) {
      qzi_run_instead(argv);
      error = errno;
    }
    if (write(report[1], &error, sizeof error) != (ssize_t)sizeof error) _exit(125);
    _exit(127);
  }
  close(report[1]);
  gate->report = report[0];
  return pid;
}

pid_t qzi_launch(char **argv, const struct qzi_prepared *how, const sigset_t *mask) {
  struct qzi_gate open = {.go = -1, .open = -1};
  pid_t pid = qzi_launch_held(argv, how, &open, mask);
  return pid > 0 && qzi_launch_outcome(&open, pid) ? -1 : pid;
}

int qzi_launch_outcome(const struct qzi_gate *gate, pid_t child) {
  int error = 0;
  ssize_t got;
  do got = read(gate->report, &error, sizeof error);
  while (got < 0 && errno == EINTR);
  close(gate->report);
  if (got != (ssize_t)sizeof error) return 0;
  waitpid(child, NULL, 0);
  errno = error;
  return -1;
}
