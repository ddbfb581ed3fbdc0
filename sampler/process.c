/* Ends of processes. See process.h. */
#include "process.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/profile.h"

int qzi_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int qzi_process_ended(int pidfd) {
  struct pollfd ended = {.fd = pidfd, .events = POLLIN};
  return poll(&ended, 1, 0) == 1;
}

uint32_t qzi_wait_outcome(int wait_status, int32_t *status) {
  if (WIFSIGNALED(wait_status)) {
    *status = WTERMSIG(wait_status);
    return QZ_END_SIGNAL;
  }
  *status = WEXITSTATUS(wait_status);
  return QZ_END_EXIT;
}

/* Exit code from a pidfd, Linux 6.15. The structure is the kernel's ABI. */
static int exit_code(int pidfd, int *code) {
  struct {
    uint64_t mask, cgroup;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t exit_code;
  } info = {.mask = UINT64_C(1) << 3};
  if (ioctl(pidfd, _IOC(_IOC_READ | _IOC_WRITE, 0xff, 11, 64), &info) || !(info.mask & UINT64_C(1) << 3)) return 0;
  *code = info.exit_code;
  return 1;
}

/* The same from /proc, as long as nobody has waited for the process: the last field but one or so, number 52. */
static int exit_code_proc(pid_t pid, int *code) {
  char name[64], text[2048];
  snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
  FILE *file = fopen(name, "re");
  size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[bytes] = 0;
  char *at = strrchr(text, ')');
  if (!at || at[1] != ' ' || at[2] != 'Z') return 0;
  for (int field = 2; at && field < 52; field++) at = strchr(at + 1, ' ');
  if (!at) return 0;
  *code = atoi(at + 1);
  return 1;
}

uint32_t qzi_process_outcome(pid_t pid, int pidfd, int32_t *status) {
  int code = 0;
  *status = -1;
  if (exit_code(pidfd, &code) || exit_code_proc(pid, &code)) return qzi_wait_outcome(code, status);
  return QZ_END_EXIT;
}

int qzi_process_left(pid_t pid, int fd) {
  char name[64], target[16], *line = NULL;
  size_t room = 0;
  struct stat session;
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  if (readlink(name, target, sizeof target) < 0 || fstat(fd, &session)) return 0; /* it has no memory any more */
  snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
  FILE *maps = fopen(name, "re");
  int found = 0, lines = 0;
  while (maps && !found && getline(&line, &room, maps) > 0) {
    unsigned major_number, minor_number;
    unsigned long inode;
    lines++;
    if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &inode) == 3)
      found = inode == session.st_ino && major_number == major(session.st_dev) && minor_number == minor(session.st_dev);
  }
  free(line);
  if (maps) fclose(maps);
  return lines > 0 && !found;
}
