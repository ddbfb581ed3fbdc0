/* Linked with -pg: gprof's profiling must not start, because its timer signals would disturb the program. */
#define _GNU_SOURCE
#include <quartz/quartz.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  char directory[] = "/tmp/quartz-gprof-XXXXXX";
  struct itimerval timer;
  struct sigaction action;
  if (getitimer(ITIMER_PROF, &timer) || timer.it_value.tv_sec || timer.it_value.tv_usec) return 1;
  if (sigaction(SIGPROF, NULL, &action) || action.sa_handler != SIG_DFL) return 2;
  if (!mkdtemp(directory) || chdir(directory)) return 3;
  pid_t child = fork();
  if (child == 0) exit(qz_processors() == 0); /* here gprof would write */
  int status, failed = child < 0 || waitpid(child, &status, 0) != child || status;
  if (!unlink("gmon.out")) failed = 4;
  if (rmdir(directory)) failed = 5;
  return failed;
}
