/* Followed processes that have just begun: what the sampler does before such a process continues, and what happens to
 * it then. */
#include "sampler/control/newcomers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi/message.h"
#include "abi/session.h"
#include "sampler/control/channel.h"
#include "sampler/control/follow.h"
#include "sampler/util/clock.h"
#include "test/support/check.h"

#define CALLS_MOST 10 /* system calls of the sampler before a followed process continues */
#define ENDED      40 /* more than are admitted while the test runs: one in two seconds */

static int peer; /* the process's end of its connection */

static struct qzi_newcomer hello(pid_t pid) {
  int ends[2];
  CHECK_IS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  struct qzi_newcomer one = {
    .pid = pid, .socket = ends[0], .session = memfd_create("session", MFD_CLOEXEC), .samples = -1};
  CHECK_IS(ftruncate(one.session, sizeof(struct qz_session)), 0);
  peer = ends[1];
  return one;
}

static struct qzi_newcomer prepared;
static void welcome_it(void) {
  prepared.clock = qzi_clock_page_make(0, NULL);
  CHECK_IS(qzi_newcomer_welcome(&prepared), 0);
}
static void nothing(void) {}

/* System calls of `doing`, in a child of its own; -1: they cannot be counted here. */
static long calls_of(void (*doing)(void)) {
  int status;
  long stops = 0;
  pid_t pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(77);
    kill(getpid(), SIGSTOP);
    doing();
    _exit(0);
  }
  CHECK_IS(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status)) return -1;
  ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD);
  while (!ptrace(PTRACE_SYSCALL, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
    stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return stops / 2;
}

/* It receives its answer and the page after a few system calls: no recording is opened before. */
static int goes_on_at_once(void) {
  struct qz_message message;
  int page;
  prepared = hello(getpid());
  long none = calls_of(nothing), calls = calls_of(welcome_it);
  if (none < 0) return 0;
  CHECK(calls - none > 0 && calls - none <= CALLS_MOST);
  CHECK_IS(qzi_channel_receive(peer, 0, &message, &page), 0);
  CHECK(message.type == QZ_WELCOME && page >= 0);
  close(page);
  close(peer);
  close(prepared.socket);
  close(prepared.session);
  return 1;
}

static void say_usage(int session, uint64_t user_ns, uint64_t end_ns) {
  struct qz_usage usage = {.ns = end_ns, .user_ns = user_ns};
  CHECK(pwrite(session, &usage, sizeof usage, offsetof(struct qz_session, usage_end)) == (ssize_t)sizeof usage);
}

static unsigned attend(void) {
  struct pollfd polls[QZI_NEWCOMERS_MAX];
  unsigned count = qzi_newcomers_poll(polls);
  poll(polls, count, 0);
  qzi_newcomers_attend(polls, count);
  return count;
}

/* Processes that end at once are never recorded; after many of them no more are admitted, and later ones are informed.
 */
static void short_ones_pass(void) {
  struct qzi_newcomer stays = hello(getpid());
  stays.clock = qzi_clock_page_make(0, NULL);
  CHECK_IS(qzi_newcomer_welcome(&stays), 0);
  CHECK(qzi_follow_has_room());
  for (int k = 0; k < ENDED; k++) {
    prepared = hello(getppid());
    welcome_it();
    say_usage(prepared.session, 1000000, 1);
    close(peer);
    CHECK_IS(attend(), 2);
    qzi_newcomer_forget(prepared.pid);
    CHECK_IS(attend(), 1);
  }
  CHECK(!qzi_follow_has_room());
  qzi_newcomers_say(1);
  CHECK(stays.clock.page->crowded == 1);
  qzi_newcomers_forget();
  CHECK_IS(attend(), 0);
}

/* A process that works is recorded once it has used some milliseconds, with what was sent to it at the beginning. */
static void grows(void) {
  struct qzi_newcomer grown = {0};
  int runs[2];
  CHECK_IS(pipe(runs), 0);
  pid_t pid = fork();
  if (pid == 0) {
    if (write(runs[1], "", 1) == 1)
      for (volatile unsigned k = 0;;) k = k + 1;
    _exit(1);
  }
  CHECK_IS(read(runs[0], &(char){0}, 1), 1); /* who says hello has used some processor time */
  close(runs[0]);
  close(runs[1]);
  prepared = hello(pid);
  welcome_it();
  CHECK(qzi_newcomers_due_ms() >= 0);
  while (!qzi_newcomer_grown(&grown)) usleep(1000);
  CHECK(grown.pid == pid && grown.socket == prepared.socket && grown.session == prepared.session);
  CHECK(grown.clock.page == prepared.clock.page);
  CHECK(!qzi_newcomer_grown(&grown) && qzi_newcomers_due_ms() == -1);
  kill(pid, SIGKILL);
  CHECK_IS(waitpid(pid, NULL, 0), pid);
}

/* One that has worked, but has ended before the sampler looked, has neither name nor modules: it is not recorded. */
static void ended_ones_pass(void) {
  struct qzi_newcomer grown;
  int runs[2];
  CHECK_IS(pipe(runs), 0);
  pid_t pid = fork();
  if (pid == 0) {
    if (read(runs[0], &(char){0}, 1) != 1) _exit(1);
    while (clock() < CLOCKS_PER_SEC / 20) continue;
    _exit(0);
  }
  prepared = hello(pid);
  welcome_it();
  CHECK_IS(write(runs[1], "", 1), 1);
  CHECK_IS(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
  while (attend() == 1) {
    CHECK(!qzi_newcomer_grown(&grown));
    usleep(1000);
  }
  CHECK_IS(qzi_newcomers_due_ms(), -1);
  CHECK_IS(waitpid(pid, NULL, 0), pid);
  close(runs[0]);
  close(runs[1]);
  close(peer);
}

/* One that the sampler would have recorded if it had looked in time is reported in the end, and only such a one. */
static void missed_ones_are_reported(void) {
  static const uint64_t lived_ns[] = {1000000, 1000000000};
  for (int k = 0; k < 2; k++) {
    char said[200] = "", expected[200] = "";
    int text[2], before = dup(STDERR_FILENO);
    CHECK_IS(pipe2(text, O_NONBLOCK), 0);
    prepared = hello(getppid());
    welcome_it();
    say_usage(prepared.session, 1000000, qzi_clock_ns() + lived_ns[k]);
    close(peer);
    CHECK_IS(attend(), 1);
    qzi_newcomer_forget(prepared.pid);
    CHECK_IS(dup2(text[1], STDERR_FILENO), STDERR_FILENO);
    qzi_follow_settle();
    CHECK_IS(dup2(before, STDERR_FILENO), STDERR_FILENO);
    if (k)
      snprintf(expected, sizeof expected,
               "quartz: process %ld, which test started, ended before the sampler had a CPU to record it: other "
               "programs had the CPUs\n",
               (long)getppid());
    CHECK(read(text[0], said, sizeof said - 1) <= (ssize_t)sizeof said && !strcmp(said, expected));
    close(text[0]);
    close(text[1]);
    close(before);
  }
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  qzi_follow_begin("test", getpid());
  int counted = goes_on_at_once();
  short_ones_pass();
  grows();
  ended_ones_pass();
  missed_ones_are_reported();
  if (!counted) fputs("system calls not counted: ptrace is refused here\n", stderr);
  return counted ? 0 : 77;
}
