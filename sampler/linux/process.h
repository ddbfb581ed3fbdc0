/* Information of the kernel about a process. */
#ifndef QZI_PROCESS_H
#define QZI_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 1: /proc is mounted, and shows processes by their pids in this pid namespace. */
int qzi_process_in_proc(void);
int qzi_pidfd_open(pid_t pid); /* returns -1 with errno */
/* 1: the process behind the pidfd has ended. */
int qzi_process_ended(int pidfd);
/* How a process that is not our child has ended: enum qz_end_reason; *status is -1 if the kernel does not say. */
uint32_t qzi_process_outcome(pid_t pid, int pidfd, int32_t *status);
/* The same for our child, which is not reaped. Returns 1 if it has ended. */
int qzi_child_outcome(pid_t child, uint32_t *reason, int32_t *status);
/* The kernel's counts for a process, including ended threads: page faults, and clock ticks in user and system mode.
 * Returns 0, or -1 if the process is gone. */
int qzi_process_counts(pid_t pid, unsigned long long *minor, unsigned long long *major, unsigned long long *user,
                       unsigned long long *system);
/* Processor time in ns of child processes that it has waited for, including theirs; 0 if the kernel does not say. */
uint64_t qzi_process_children_ns(pid_t pid);
/* The value of that type (such as AT_ENTRY) in the process's auxiliary vector; 0: none, or it may not be read. */
uint64_t qzi_process_auxiliary(pid_t pid, unsigned long type);
/* Who a process is. */
struct qzi_process_identity {
  pid_t inner_pid; /* in its own pid namespace */
  uint32_t user;   /* effective */
  uint64_t started_realtime_ns;
};
/* Returns 0, or -1 if the process is gone. */
int qzi_process_identity(pid_t pid, struct qzi_process_identity *identity);
/* Gets the path of the program that the process runs: the path by which it was started, if that still leads to the same
 * file (a link may have another name), else the path of the file. Returns 0, or -1 if the process is gone, or if it may
 * not be read. */
int qzi_process_program(pid_t pid, char *path, size_t bytes);
/* 1: the process runs a program that does not map the file of `fd`, so it has called exec. 0: it maps the file, or is
 * ending. */
int qzi_process_left(pid_t pid, int fd);

#endif
