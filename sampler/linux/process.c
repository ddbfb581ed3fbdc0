/* Processes as the kernel describes them. See process.h. */
#include "process.h"

#include <elf.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi/profile.h"
#include "process_memory.h"

int qzi_process_in_proc(void) {
  char self[32] = "", number[32];
  snprintf(number, sizeof number, "%ld", (long)getpid());
  return readlink("/proc/self", self, sizeof self - 1) > 0 && !strcmp(self, number);
}

int qzi_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int qzi_process_ended(int pidfd) {
  struct pollfd ended = {.fd = pidfd, .events = POLLIN};
  return poll(&ended, 1, 0) == 1;
}

static uint32_t wait_outcome(int wait_status, int32_t *status) {
  if (WIFSIGNALED(wait_status)) {
    *status = WTERMSIG(wait_status);
    return QZ_END_SIGNAL;
  }
  *status = WEXITSTATUS(wait_status);
  return QZ_END_EXIT;
}

/* Gets the exit code by the pidfd (Linux 6.15). The structure is the kernel's ABI. */
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

/* The fields of /proc/PID/stat from the state (number 3) on; NULL: there is no such process. */
static char *stat_fields(pid_t pid, char *text, size_t room) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
  FILE *file = fopen(name, "re");
  size_t bytes = file ? fread(text, 1, room - 1, file) : 0;
  if (file) fclose(file);
  text[bytes] = 0;
  char *end = strrchr(text, ')');
  return end && end[1] == ' ' ? end + 2 : NULL;
}
static char *stat_field(char *fields, int number) {
  for (int field = 3; fields && field < number; field++) {
    fields = strchr(fields, ' ');
    if (fields) fields++;
  }
  return fields;
}

/* Gets the exit code from /proc/PID/stat, where it is as long as the process was not reaped. */
static int exit_code_proc(pid_t pid, int *code) {
  char text[2048], *fields = stat_fields(pid, text, sizeof text);
  if (!fields || *fields != 'Z' || !(fields = stat_field(fields, 52))) return 0;
  *code = atoi(fields);
  return 1;
}

int qzi_process_counts(pid_t pid, unsigned long long *minor, unsigned long long *major, unsigned long long *user,
                       unsigned long long *system) {
  char text[2048], *faults = stat_field(stat_fields(pid, text, sizeof text), 10);
  return faults && sscanf(faults, "%llu %*u %llu %*u %llu %llu", minor, major, user, system) == 4 ? 0 : -1;
}

uint64_t qzi_process_children_ns(pid_t pid) {
  char text[2048], *user = stat_field(stat_fields(pid, text, sizeof text), 16);
  unsigned long long user_ticks, system_ticks;
  long second = sysconf(_SC_CLK_TCK);
  if (!user || second <= 0 || sscanf(user, "%llu %llu", &user_ticks, &system_ticks) != 2) return 0;
  return (user_ticks + system_ticks) * (UINT64_C(1000000000) / (uint64_t)second);
}

/* When the process began, by the clock that files are dated with; 0: unknown. */
static uint64_t started_ns(pid_t pid) {
  char text[2048], *started = stat_field(stat_fields(pid, text, sizeof text), 22);
  long second = sysconf(_SC_CLK_TCK);
  struct timespec real, boot;
  unsigned long long ticks;
  if (!started || second <= 0 || sscanf(started, "%llu", &ticks) != 1 || clock_gettime(CLOCK_REALTIME, &real) ||
      clock_gettime(CLOCK_BOOTTIME, &boot))
    return 0;
  int64_t since_ns = ((int64_t)real.tv_sec - boot.tv_sec) * 1000000000 + (real.tv_nsec - boot.tv_nsec);
  return (uint64_t)since_ns + ticks * (UINT64_C(1000000000) / (uint64_t)second);
}

int qzi_process_identity(pid_t pid, struct qzi_process_identity *identity) {
  char name[64], line[512];
  int found = 0;
  snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
  FILE *file = fopen(name, "re");
  *identity = (struct qzi_process_identity){.inner_pid = pid, .started_realtime_ns = started_ns(pid)};
  while (file && fgets(line, sizeof line, file)) {
    long inner;
    if (sscanf(line, "Uid: %*u %u", &identity->user) == 1) found = 1;
    if (strncmp(line, "NSpid:", 6)) continue;
    for (char *at = line + 6, *end; inner = strtol(at, &end, 10), end != at; at = end)
      identity->inner_pid = (pid_t)inner;
  }
  if (file) fclose(file);
  return found ? 0 : -1;
}

int qzi_child_outcome(pid_t child, uint32_t *reason, int32_t *status) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != child) return 0;
  *reason = info.si_code == CLD_EXITED ? QZ_END_EXIT : QZ_END_SIGNAL;
  *status = info.si_status;
  return 1;
}

uint32_t qzi_process_outcome(pid_t pid, int pidfd, int32_t *status) {
  int code = 0;
  *status = -1;
  if (exit_code(pidfd, &code) || exit_code_proc(pid, &code)) return wait_outcome(code, status);
  return QZ_END_EXIT;
}

int qzi_process_left(pid_t pid, int fd) {
  char name[64], target[16], *line = NULL;
  size_t room = 0;
  struct stat session;
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  if (readlink(name, target, sizeof target) < 0 || fstat(fd, &session)) return 0; /* a zombie has no memory map */
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

/* ---- its program ---- */

uint64_t qzi_process_auxiliary(pid_t pid, unsigned long type) {
  char name[64];
  Elf64_auxv_t value;
  uint64_t found = 0;
  snprintf(name, sizeof name, "/proc/%ld/auxv", (long)pid);
  FILE *file = fopen(name, "re");
  while (file && fread(&value, sizeof value, 1, file) == 1 && value.a_type != AT_NULL)
    if (value.a_type == type) found = value.a_un.a_val;
  if (file) fclose(file);
  return found;
}

/* The first word of its command line, which is usually the path with which exec was called. */
static size_t first_word(pid_t pid, char *name, size_t bytes) {
  char from[64];
  snprintf(from, sizeof from, "/proc/%ld/cmdline", (long)pid);
  FILE *file = fopen(from, "re");
  size_t length = file ? fread(name, 1, bytes, file) : 0;
  if (file) fclose(file);
  return strnlen(name, length);
}

/* Gets the path with which exec was called, from the process's stack, where setproctitle does not overwrite it; where
 * its memory may not be read, from its command line. Returns 0 if it leads to the executed file, else -1. */
static int started_by(pid_t pid, const char *executed, char *path, size_t bytes) {
  char name[PATH_MAX], from[64], directory[PATH_MAX];
  struct stat file, other;
  uint64_t at = qzi_process_auxiliary(pid, AT_EXECFN);
  size_t length = 0;
  while (at && length < sizeof name && !qzi_program_read((uint32_t)pid, at + length, name + length, 1) && name[length])
    length++;
  if (!length) length = first_word(pid, name, sizeof name);
  if (!length || length == sizeof name || name[length]) return -1;
  snprintf(from, sizeof from, "/proc/%ld/cwd", (long)pid);
  ssize_t used = name[0] == '/' ? 0 : readlink(from, directory, sizeof directory - 1);
  if (used < 0) return -1;
  directory[used] = 0;
  const char *relative = strncmp(name, "./", 2) ? name : name + 2;
  int all = snprintf(path, bytes, "%s%s%s", directory, name[0] == '/' ? "" : "/", name[0] == '/' ? name : relative);
  return all > 0 && (size_t)all < bytes && !stat(path, &file) && !stat(executed, &other) &&
             file.st_dev == other.st_dev && file.st_ino == other.st_ino
           ? 0
           : -1;
}

int qzi_process_program(pid_t pid, char *path, size_t bytes) {
  char executed[64];
  snprintf(executed, sizeof executed, "/proc/%ld/exe", (long)pid);
  if (!started_by(pid, executed, path, bytes)) return 0;
  ssize_t length = readlink(executed, path, bytes - 1);
  if (length <= 0) return -1;
  path[length] = 0;
  return 0;
}
