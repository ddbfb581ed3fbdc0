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

pid_t qzi_launch(char **argv, const char *name, enum qzi_children children, const char *layer, const sigset_t *mask) {
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
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (name && (setenv(QZ_CHANNEL_ENV, name, 1) || set_children(children))) error = errno;
    if (!error && layer && qzi_layer_preload(layer)) error = errno;
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (!error) {
      qzi_run_instead(argv);
      error = errno;
    }
    if (write(report[1], &error, sizeof error) != (ssize_t)sizeof error) _exit(125);
    _exit(127);
  }
  close(report[1]);
  ssize_t got;
  do got = read(report[0], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got != (ssize_t)sizeof error) return pid;
  waitpid(pid, NULL, 0);
  errno = error;
  return -1;
}

pid_t qzi_launch_held(char **argv, struct qzi_gate *gate, const sigset_t *mask) {
  int report[2];
  if (pipe2(report, O_CLOEXEC)) return -1;
  pid_t pid = fork();
  if (pid < 0) {
    int error = errno;
    close(report[0]);
    close(report[1]);
    errno = error;
    return -1;
  }
  if (pid == 0) {
    char end;
    sigprocmask(SIG_SETMASK, mask, NULL);
    close(gate->open);
    while (read(gate->go, &end, 1) < 0 && errno == EINTR) {}
    qzi_run_instead(argv);
    int error = errno;
    if (write(report[1], &error, sizeof error) != (ssize_t)sizeof error) _exit(125);
    _exit(127);
  }
  close(report[1]);
  gate->report = report[0];
  return pid;
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
