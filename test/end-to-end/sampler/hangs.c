/* A sampler whose sampling thread loops forever, which no known input causes, still ends when it is asked to: with one
 * line and status 125, and the profile contains what was written before. Usage: hangs SAMPLER. Puts the loop into the
 * sampler's code by ptrace; 77 if that is not permitted, or on another machine than x86-64. */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test/support/check.h"

#if !defined(__x86_64__)
int main(void) { return 77; }
#else

static char profile[] = "/tmp/quartz-hangs-XXXXXX", errors[] = "/tmp/quartz-hangs-errors-XXXXXX";

/* The sampling thread is created last. */
static pid_t last_thread(pid_t pid, unsigned *count) {
  char name[64];
  pid_t last = 0;
  snprintf(name, sizeof name, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(name);
  *count = 0;
  for (struct dirent *entry; tasks && (entry = readdir(tasks));)
    if (atoi(entry->d_name)) {
      ++*count;
      if (atoi(entry->d_name) > last) last = atoi(entry->d_name);
    }
  if (tasks) closedir(tasks);
  return last;
}

/* The program's entry point: code that no thread needs any more. 0: unknown. */
static unsigned long entry_of(pid_t pid) {
  char name[64];
  unsigned long pair[2], entry = 0;
  snprintf(name, sizeof name, "/proc/%d/auxv", (int)pid);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && !entry && read(fd, pair, sizeof pair) == (ssize_t)sizeof pair)
    if (pair[0] == AT_ENTRY) entry = pair[1];
  if (fd >= 0) close(fd);
  return entry;
}

static int loop_in(pid_t pid, pid_t tid) {
  struct user_regs_struct registers;
  int status;
  unsigned long entry = entry_of(pid);
  if (!entry) return -1;
  if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL)) return -1;
  CHECK(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status));
  CHECK(!ptrace(PTRACE_GETREGS, tid, NULL, &registers));
  long code = ptrace(PTRACE_PEEKTEXT, tid, (void *)entry, NULL);
  CHECK(!ptrace(PTRACE_POKETEXT, tid, (void *)entry, (void *)((code & ~0xffffL) | 0xfeeb))); /* jmp . */
  registers.rip = entry;
  registers.orig_rax = (unsigned long long)-1; /* no system call is resumed */
  CHECK(!ptrace(PTRACE_SETREGS, tid, NULL, &registers) && !ptrace(PTRACE_DETACH, tid, NULL, NULL));
  return 0;
}

int main(int argc, char **argv) {
  struct stat state = {0};
  unsigned threads = 0;
  int status;
  char text[1000] = "";
  CHECK(argc == 2);
  close(mkstemp(profile));
  close(mkstemp(errors));
  pid_t sampler = fork();
  if (!sampler) {
    dup2(open(errors, O_WRONLY), 2);
    execl(argv[1], argv[1], "record", "-o", profile, "--", "sleep", "100", NULL);
    _exit(99);
  }
  for (int k = 0; k < 300 && state.st_size < 4096; k++) { /* it samples: the profile has its name, and data */
    usleep(100000);
    stat(profile, &state);
  }
  usleep(300000);
  pid_t thread = last_thread(sampler, &threads);
  if (state.st_size < 4096 || threads < 2 || loop_in(sampler, thread)) {
    kill(sampler, SIGTERM);
    waitpid(sampler, &status, 0);
    unlink(profile);
    unlink(errors);
    return 77;
  }
  CHECK(!kill(sampler, SIGTERM));
  CHECK(waitpid(sampler, &status, 0) == sampler);
  int fd = open(errors, O_RDONLY);
  CHECK(read(fd, text, sizeof text - 1) > 0);
  unlink(profile);
  unlink(errors);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 125);
  CHECK(!strncmp(text, "quartz: the sampler hangs", 25) && strchr(text, '\n') == text + strlen(text) - 1);
  return 0;
}
#endif
