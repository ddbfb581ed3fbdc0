/* Children with memory of their own that are not created by fork(): by _Fork, by clone, by syscall, and by an
 * instruction of the program itself. Each takes `lock` 1000 times, and calls `step` as often; the parent does so ten
 * times before each child and once at the end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAYS 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int steps;

__attribute__((noinline)) static void step(void) {
  pthread_mutex_lock(&lock);
  steps++;
  pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) static void work(int times) {
  for (int k = 0; k < times; k++) step();
}
static int child(void *unused) {
  (void)unused;
  work(1000);
  _exit(17);
}

static long by_instruction(void) {
#ifdef __x86_64__
  long result;
  register long fifth __asm__("r8") = 0, fourth __asm__("r10") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(SYS_clone), "D"((long)SIGCHLD), "S"(0L), "d"(0L), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return result;
#else
  return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

int main(void) {
  const size_t bytes = 1 << 16;
  char *stack = malloc(bytes);
  for (int way = 0; way < WAYS; way++) {
    work(10);
    long pid = way == 0   ? _Fork()
               : way == 1 ? clone(child, stack + bytes, SIGCHLD, NULL)
               : way == 2 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
                          : by_instruction();
    if (!pid) child(NULL);
    int status = 0;
    if (waitpid((pid_t)pid, &status, 0) != pid || WEXITSTATUS(status) != 17) return 1;
  }
  work(1);
  printf("%d\n", steps);
  free(stack);
  return 0;
}
