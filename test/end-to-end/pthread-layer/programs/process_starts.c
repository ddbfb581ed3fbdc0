/* Processes started for different purposes: `copies` (of this process, with much memory, that end at once), `short`
 * (programs that do nothing), `long` (one program that works, and a wait for it). `nothing` and `work` are what these
 * execute. Prints their number, and the milliseconds of processor time that fork or posix_spawn took in this process.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static long long making_ns;

static long long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void wait_for(pid_t child) {
  if (child < 0 || waitpid(child, NULL, 0) != child) abort();
}

__attribute__((noinline)) static void copy_once(void) {
  long long before = cpu_ns();
  pid_t child = fork();
  if (!child) _exit(0);
  making_ns += cpu_ns() - before;
  wait_for(child);
}

__attribute__((noinline)) static void spawn_once(char *self, const char *what) {
  char *words[] = {self, (char *)what, NULL};
  pid_t child;
  long long before = cpu_ns();
  if (posix_spawn(&child, self, NULL, NULL, words, environ)) abort();
  making_ns += cpu_ns() - before;
  wait_for(child);
}

static int work(void) {
  volatile unsigned long sum = 0;
  while (cpu_ns() < 600000000)
    for (unsigned k = 0; k < 100000; k++) sum += k;
  return 0;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  int started = 0;
  if (!strcmp(what, "nothing")) return 0;
  if (!strcmp(what, "work")) return work();
  if (!strcmp(what, "copies")) {
    size_t bytes = (size_t)96 << 20;
    char *memory = malloc(bytes);
    if (!memory) abort();
    memset(memory, 1, bytes);
    while (making_ns < 500000000 && started < 2000) {
      copy_once();
      started++;
    }
    free(memory);
  }
  for (; !strcmp(what, "short") && started < 400; started++) spawn_once("/proc/self/exe", "nothing");
  for (; !strcmp(what, "long") && started < 1; started++) spawn_once("/proc/self/exe", "work");
  printf("%d %lld\n", started, making_ns / 1000000);
  return 0;
}
