/* fork and exec, with the error of exec brought back. See launch.h. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/channel.h"
#include "layer.h"

pid_t qzi_launch(char **argv, const char *name, int children, const char *layer,
                 const sigset_t *mask) {
  int report[2], error = 0;
  if (pipe2(report, O_CLOEXEC)) return -1;
  pid_t pid = fork();
  if (pid < 0) {
    error = errno;
    close(report[0]);
    close(report[1]);
    errno = error;
    return -1;
  }
  if (pid == 0) {
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (setenv(QZ_CHANNEL_ENV, name, 1) || (children ? setenv("QUARTZ_CHILDREN", "1", 1) : unsetenv("QUARTZ_CHILDREN")))
      error = errno;
    if (!error && layer && qzi_layer_preload(layer)) error = errno;
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (!error) {
      execvp(argv[0], argv);
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
