/* Why there is no profile. See no_profile.h. */
#include "no_profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "launch.h"
#include "preload.h"
#include "sampler/linux/spare_tasks.h"
#include "watch.h"

#define TASKS_LEAST 6 /* the program and two threads of its own, the sampler's threads */

const char qzi_no_proc[] =
  "/proc is missing, or shows other processes: mount it (mount -t proc proc /proc; unshare --mount-proc)";

int qzi_tasks_are_short(void) {
  unsigned tasks = qzi_spare_tasks(TASKS_LEAST);
  if (tasks >= TASKS_LEAST) return 0;
  fprintf(stderr,
          "quartz: no profile: only %u more processes and threads can be started, and the program has them all; "
          "raise the limit (ulimit -u)\n",
          tasks);
  return 1;
}

int qzi_run_alone(char **argv, const sigset_t *mask) {
  sigprocmask(SIG_SETMASK, mask, NULL);
  qzi_run_instead(argv);
  return qzi_launch_failed(argv[0], errno);
}

int qzi_launch_failed(const char *program, int error) {
  struct stat file;
  int exists = strchr(program, '/') && !stat(program, &file);
  const char *remedy =
    error == ENOENT && exists ? "it exists, but not the interpreter or loader that it names (see head -1, or file)"
    : error == EACCES && exists && S_ISDIR(file.st_mode) ? "it is a directory; name a program in it"
    : error == ENOENT ? strchr(program, '/') ? "check its path" : "check its name, or give its path, as in ./prog"
    : error == EACCES ? "name a program file that you may execute (chmod +x)"
    : error == EMFILE || error == ENFILE ? "raise the limit of open files (ulimit -n)"
    : error == EAGAIN                    ? "raise the limit of processes (ulimit -u)"
    : error == ENOEXEC                   ? "it is made for another machine, or damaged: build it for this one"
                                         : "try again when more memory and processes are free";
  fprintf(stderr, "quartz: %s cannot be run: %s; %s\n", program, strerror(error), remedy);
  return error == ENOENT                                                            ? 127
         : error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ? QUARTZ_FAILED
                                                                                    : 126;
}

/* The reason, if the program's file does not show it. */
static const char *cause(const struct qzi_no_profile *absence) {
  if (absence->no_proc) return qzi_no_proc;
  if (absence->kind == QZ_PROGRAM_PLAIN && !absence->layer)
    return "libquartz-pthread.so was not found beside quartz-sampler; build or install it, or name it in QUARTZ_LAYER";
  if (absence->sandboxed)
    return "it runs under a system call filter (seccomp) that kills for, or refuses, calls that recording needs; "
           "record it outside of that sandbox";
  if (absence->after_exec)
    return "it did not connect to the sampler; does it have another root directory (chroot) or network namespace?";
  return NULL;
}

void qzi_explain_no_profile(const struct qzi_no_profile *absence) {
  struct stat file;
  struct rlimit space;
  const char *of = absence->after_exec ? " of the program that it executed last (exec)" : "",
             *program = absence->program;
  const char *reason = qzi_layer_reason(absence->kind), *other = cause(absence);
  if (!absence->after_exec && !stat(program, &file) && file.st_mode & (S_ISUID | S_ISGID))
    fprintf(stderr,
            "quartz: no profile: %s runs with the rights of another user or group (set-id), and cannot be recorded; "
            "record a copy without that bit\n",
            program);
  else if (absence->unwatched && qzi_watched_because(absence->kind))
    fprintf(stderr, "quartz: no profile%s: %s %s, and cannot be watched from outside: %s\n", of,
            absence->after_exec ? "that" : program, qzi_watched_because(absence->kind), absence->unwatched);
  else if (reason)
    fprintf(stderr, "quartz: no profile%s: %s cannot be recorded: %s\n", of, absence->after_exec ? "that" : program,
            reason);
  else if (other)
    fprintf(stderr, "quartz: no profile%s: %s\n", of, other);
  else
    fprintf(stderr, "quartz: no profile: %s did not connect to the sampler; %s\n", program,
            !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY
              ? "it may have too little memory for that: raise the limit of address space (ulimit -v)"
              : "if it only starts the program to be recorded, use --children");
}
