/* Why a process can't be recorded from outside: one of each kind, and one that can be. */
#include "sampler/outside/permission.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/support/check.h"

static atomic_int thread_id;
static void *wait_to_be_named(void *unused) {
  thread_id = (int)syscall(SYS_gettid);
  for (;;) pause();
  return unused;
}

/* Expects a reason that contains `words`; NULL: none. */
static void expect(pid_t pid, const char *words) {
  char text[512];
  const char *why = qzi_outside_refusal(pid, text, sizeof text);
  if (!words != !why || (words && !strstr(why, words)))
    fprintf(stderr, "process %ld: \"%s\" instead of \"%s\"\n", (long)pid, why ? why : "", words ? words : "");
  CHECK(!words == !why && (!words || strstr(why, words)));
}

/* Starts another program, which stops itself as soon as it is that program. */
static pid_t another_program(void) {
  int status;
  pid_t pid = fork();
  if (!pid) {
    execl("/bin/sh", "sh", "-c", "kill -STOP $$", (char *)NULL);
    _exit(127);
  }
  CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
  return pid;
}

int main(void) {
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, wait_to_be_named, NULL));
  while (!thread_id) usleep(1000);
  char words[64];
  snprintf(words, sizeof words, "it is one thread of process %ld", (long)getpid());
  expect((pid_t)thread_id, words);
  expect(getpid(), "Quartz's own sampler"); /* which runs from the file that this test runs from */

  pid_t other = another_program();
  expect(other, NULL);
  CHECK(!qzi_outside_publishes(other));
  CHECK(!kill(other, SIGKILL));
  siginfo_t ended;
  CHECK(!waitid(P_PID, (id_t)other, &ended, WEXITED | WNOWAIT));
  expect(other, "has ended, and its parent has not reaped it yet");
  CHECK(waitpid(other, NULL, 0) == other);
  expect(other, "/proc does not show it");

  /* Kernel threads are seen where this process is in the first pid namespace. */
  FILE *kernel = fopen("/proc/2/comm", "re");
  char name[32] = "";
  if (kernel && fgets(name, sizeof name, kernel) && !strcmp(name, "kthreadd\n")) expect(2, "it is a kernel thread");
  if (kernel) fclose(kernel);
  return 0;
}
