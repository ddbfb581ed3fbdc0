/* What the kernel knows of a process. */
#ifndef QZI_PROCESS_H
#define QZI_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 1: /proc is there, and shows processes by the numbers that they have here. */
int qzi_process_in_proc(void);
int qzi_pidfd_open(pid_t pid); /* -1 and errno */
/* 1: the process behind the pidfd has ended. */
int qzi_process_ended(int pidfd);
/* How a process that is not our child ended: enum qz_end_reason; *status is -1 where the kernel does not say. */
uint32_t qzi_process_outcome(pid_t pid, int pidfd, int32_t *status);
/* The same for our child, which stays to be waited for. 1: it has ended. */
int qzi_child_outcome(pid_t child, uint32_t *reason, int32_t *status);
/* What the kernel counts of a process, ended threads included: page faults, and clock ticks in user and system mode. 0,
 * or -1: it is gone. */
int qzi_process_counts(pid_t pid, unsigned long long *minor, unsigned long long *major, unsigned long long *user,
                       unsigned long long *system);
/* Processor time of its child processes that it has waited for, theirs included; 0 where the kernel does not say. */
uint64_t qzi_process_children_ns(pid_t pid);
/* What the kernel put into the auxiliary vector of a process under that type (AT_ENTRY); 0: nothing, or it may not be
 * read. */
uint64_t qzi_process_auxiliary(pid_t pid, unsigned long type);
/* Path of the program that it runs: by which it was started, where that still leads to the same file (a link may have
 * another name), else the file's. 0, or -1: it is gone, or may not be read. */
int qzi_process_program(pid_t pid, char *path, size_t bytes);
/* 1: it runs a program that does not map the file behind `fd`: it has called exec. 0: it maps it, or is ending. */
int qzi_process_left(pid_t pid, int fd);

#endif
