/* Ways in which a process with threads ends, or becomes another: `ends WAY`. Output and status are the same each time.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "two_threads.h"

static const int for_ever = 1 << 30;

static void *leaves(void *unused) {
  work_us(30000);
  exit(6);
}
static void *sleeps(void *unused) {
  for (;;) pause();
  return NULL;
}
static void said(void) { (void)!write(1, "said at the end\n", 16); }

static sem_t to_main, to_sender;
static void post(int number) { sem_post(number == SIGUSR1 ? &to_sender : &to_main); }
static void *sends(void *to) {
  for (int k = 0; k < 200; k++) {
    pthread_kill(*(pthread_t *)to, SIGUSR1);
    sem_wait(&to_sender);
  }
  return NULL;
}
/* Signal handlers post a semaphore, some of them while the thread is locking, on the signal stack or not. */
static void signals(void) {
  static char stack[1 << 16];
  pthread_t sender;
  sem_init(&to_main, 0, 0);
  sem_init(&to_sender, 0, 0);
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = post, .sa_flags = SA_RESTART | SA_ONSTACK}, NULL);
  sigaction(SIGUSR2, &(struct sigaction){.sa_handler = post, .sa_flags = SA_RESTART}, NULL);
  crew_begin(&for_ever);
  pthread_create(&sender, NULL, sends, &crew[0]);
  for (int k = 0; k < 200; k++) {
    raise(SIGUSR2);
    pthread_mutex_lock(&crew_lock);
    pthread_mutex_unlock(&crew_lock);
    sem_wait(&to_main);
  }
  pthread_join(sender, NULL);
  puts("all signals seen");
  fflush(stdout);
  _exit(7);
}

/* Forks while other threads hold locks; the child continues with threads of its own. */
static void forks(void) {
  crew_begin(&for_ever);
  for (int k = 0; k < 20; k++) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      crew_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
      if (k == 0) crew_work("child");
      _exit(k);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != k) printf("child %d: %x\n", k, (unsigned)status);
  }
  _exit(8);
}

static void daemonize(void) {
  int ends[2];
  if (pipe(ends)) abort();
  fflush(stdout);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    crew_work("daemon");
    (void)!write(ends[1], "x", 1);
    _exit(0);
  }
  char byte;
  close(ends[1]);
  wait(NULL);
  (void)!read(ends[0], &byte, 1);
}

static void children(void) {
  extern char **environ;
  pid_t child;
  int status;
  char line[64] = "";
  char *const command[] = {"sh", "-c", "exit 4", NULL};
  crew_work("before");
  posix_spawnp(&child, "sh", NULL, NULL, command, environ);
  waitpid(child, &status, 0);
  printf("posix_spawn: %d\n", WEXITSTATUS(status));
  status = system("exit 3");
  printf("system: %d\n", WEXITSTATUS(status));
  FILE *out = popen("echo said", "r");
  printf("popen: %s", fgets(line, sizeof line, out) ? line : "nothing\n");
  printf("pclose: %d\n", pclose(out));
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("vfork: %d\n", WEXITSTATUS(status));
  crew_work("after");
}

int main(int count, char **arguments) {
  const char *way = count > 1 ? arguments[1] : "";
  pthread_t thread;
  if (!strcmp(way, "signals")) signals();
  if (!strcmp(way, "forks")) forks();
  if (!strcmp(way, "daemon")) return daemonize(), 2;
  if (!strcmp(way, "children")) return children(), 2;
  if (!strcmp(way, "exec")) {
    crew_work("first");
    execl("/proc/self/exe", arguments[0], "exit", (char *)NULL);
  }
  crew_begin(&for_ever); /* what follows happens while threads run */
  work_own_us(60000);
  if (!strcmp(way, "_exit")) _exit(3);
  if (!strcmp(way, "quick_exit")) {
    at_quick_exit(said);
    quick_exit(4);
  }
  if (!strcmp(way, "exit")) {
    atexit(said);
    exit(5);
  }
  if (!strcmp(way, "abort")) abort();
  if (!strcmp(way, "kill")) raise(SIGKILL);
  if (!strcmp(way, "segv")) *(volatile int *)0 = 1;
  if (!strcmp(way, "term")) raise(SIGTERM);
  if (!strcmp(way, "other")) { /* another thread ends the process, while main waits for a third one */
    pthread_create(&thread, NULL, leaves, NULL);
    pthread_create(&thread, NULL, sleeps, NULL);
    pthread_join(thread, NULL);
  }
  if (!strcmp(way, "never"))
    for (;;) pause();
  return 9;
}
