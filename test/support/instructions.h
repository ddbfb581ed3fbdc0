/* Instructions that a program executes between marks, counted one by one (PTRACE_SINGLESTEP; x86-64). */
#ifndef TEST_INSTRUCTIONS_H
#define TEST_INSTRUCTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is counted lies between two of them. */
static inline void instructions_mark(void) { __asm__ volatile("int3"); }

/* Waits for the next stop; false: it has ended. */
static inline bool instructions_stop(pid_t pid, int *code) {
  int status;
  siginfo_t info;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return false;
  if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info)) return false;
  *code = WSTOPSIG(status) == SIGTRAP ? info.si_code : 0;
  return true;
}

/* This program again, with the argument --traced: it marks `times` pieces of each case, in order. counts: the least of
 * each, for timers and signals come in between. 0, 1, or 77: this machine does not let it. */
static inline int instructions_count(uint64_t *counts, unsigned cases, unsigned times) {
  pid_t pid = fork();
  if (pid < 0) return 1;
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(77);
    raise(SIGSTOP);
    execl("/proc/self/exe", "traced", "--traced", (char *)NULL);
    _exit(98);
  }
  int code = 0;
  unsigned marks = 0;
  uint64_t steps = 0;
  memset(counts, 0xff, cases * sizeof *counts);
  while (instructions_stop(pid, &code)) {
    bool is_mark = code == SI_KERNEL;
    if (is_mark && ++marks > 2 * times * cases) break;
    if (is_mark && marks % 2 == 0) {
      uint64_t *least = &counts[(marks / 2 - 1) / times];
      if (steps < *least) *least = steps;
    }
    steps = is_mark ? 0 : steps + 1;
    if (ptrace(marks % 2 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL)) break;
  }
  if (marks) return marks == 2 * times * cases ? 0 : 1;
  printf("skipped: a process may not be traced here\n");
  return 77;
}

#endif
