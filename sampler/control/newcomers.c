/* See newcomers.h. */
#include "newcomers.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>
#include "abi/message.h"
#include "abi/session.h"
#include "channel.h"
#include "events.h"
#include "follow.h"
#include "sampler/linux/process.h"
#include "sampler/util/clock.h"

/* Thresholds for recording a process. */
#define LOOK_NS  UINT64_C(10000000)  /* interval between checks of a process */
#define WORTH_NS UINT64_C(8000000)   /* processor time after which it is not a short command */
#define STAYS_NS UINT64_C(100000000) /* elapsed time after which it is recorded however little it used */

static struct {
  struct qzi_newcomer one[QZI_NEWCOMERS_MAX];
  unsigned count;
} all;

/* Processor time of a process; 0 if it has ended. */
static uint64_t used_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used)) return 0;
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Then nothing can be learned of its program any more, though its parent may not have waited for it. */
static int has_ended(pid_t pid) {
  int pidfd = qzi_pidfd_open(pid);
  if (pidfd < 0) return errno == ESRCH;
  int ended = qzi_process_ended(pidfd);
  close(pidfd);
  return ended;
}

static struct qzi_newcomer take(unsigned k) {
  struct qzi_newcomer one = all.one[k];
  all.one[k] = all.one[--all.count];
  return one;
}

void qzi_newcomer_close(const struct qzi_newcomer *grown) {
  close(grown->session);
  if (grown->samples >= 0) close(grown->samples);
}

static void drop(unsigned k) {
  struct qzi_newcomer one = take(k);
  if (one.socket >= 0) close(one.socket);
  qzi_newcomer_close(&one);
  qzi_clock_page_close(&one.clock);
}

int qzi_newcomer_welcome(const struct qzi_newcomer *who) {
  if (all.count == QZI_NEWCOMERS_MAX || qz_message_send(who->socket, QZ_WELCOME, NULL, who->clock.fd)) return -1;
  struct qzi_newcomer *one = &all.one[all.count++];
  *one = *who;
  one->begun_ns = qzi_clock_ns();
  one->used_ns = used_ns(one->pid); /* includes the programs that it executed before */
  one->due_ns = one->begun_ns + LOOK_NS;
  return 0;
}

void qzi_newcomer_forget(pid_t pid) {
  for (unsigned k = all.count; k-- > 0;)
    if (all.one[k].pid == pid) drop(k);
}

void qzi_newcomers_forget(void) {
  while (all.count) drop(all.count - 1);
}

unsigned qzi_newcomers_poll(struct pollfd *polls) {
  for (unsigned k = 0; k < all.count; k++) polls[k] = (struct pollfd){.fd = all.one[k].socket, .events = POLLIN};
  return all.count;
}

/* The usage that it reported at its end; processes that end by a signal, exec or _exit do not. */
static struct qz_usage said(int session) {
  struct qz_usage usage;
  ssize_t got = pread(session, &usage, sizeof usage, (off_t)offsetof(struct qz_session, usage_end));
  return got == (ssize_t)sizeof usage ? usage : (struct qz_usage){0};
}

static void pass(struct qzi_newcomer *one, uint64_t cpu_ns) {
  if (!one->passed) qzi_follow_passed(cpu_ns);
  one->passed = 1;
}

/* A closed connection: the process has ended, executes another program, or closed a descriptor that it did not open.
 * The last case is rare, and is detected at the next check. */
static void hung_up(struct qzi_newcomer *one) {
  close(one->socket);
  one->socket = -1;
  one->due_ns = qzi_clock_ns() + LOOK_NS;
  struct qz_usage usage = said(one->session);
  if (usage.ns) pass(one, usage.user_ns + usage.system_ns);
  if (usage.ns > one->begun_ns + STAYS_NS + 2 * LOOK_NS) qzi_follow_missed(one->pid);
}

void qzi_newcomers_attend(const struct pollfd *polls, unsigned count) {
  for (unsigned k = 0; k < count && k < all.count; k++) {
    struct qz_message message;
    int fd;
    if (!polls[k].revents || polls[k].fd != all.one[k].socket) continue;
    if (polls[k].revents & (POLLHUP | POLLERR) || qzi_channel_receive(all.one[k].socket, 0, &message, &fd))
      hung_up(&all.one[k]);
    else if (fd >= 0 && message.type == QZ_SAMPLES && all.one[k].samples < 0)
      all.one[k].samples = fd;
    else if (fd >= 0)
      close(fd);
  }
}

int qzi_newcomer_grown(struct qzi_newcomer *grown) {
  uint64_t now_ns = qzi_clock_ns();
  for (unsigned k = all.count; k-- > 0;) {
    struct qzi_newcomer *one = &all.one[k];
    if (one->due_ns > now_ns) continue;
    uint64_t cpu_ns = used_ns(one->pid);
    if (!cpu_ns || has_ended(one->pid)) {
      pass(one, cpu_ns);
      drop(k);
    } else if (one->socket < 0 && qzi_process_left(one->pid, one->session)) {
      drop(k);
    } else if (cpu_ns - one->used_ns >= WORTH_NS || now_ns - one->begun_ns >= STAYS_NS) {
      *grown = take(k);
      return 1;
    } else {
      one->due_ns = now_ns + LOOK_NS;
    }
  }
  return 0;
}

int qzi_newcomers_due_ms(void) {
  uint64_t due_ns = UINT64_MAX, now_ns = qzi_clock_ns();
  for (unsigned k = 0; k < all.count; k++)
    if (all.one[k].due_ns < due_ns) due_ns = all.one[k].due_ns;
  if (!all.count) return -1;
  return due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 0;
}

void qzi_newcomers_say(int crowded) {
  for (unsigned k = 0; k < all.count; k++)
    if (all.one[k].clock.page) __atomic_store_n(&all.one[k].clock.page->crowded, (uint64_t)crowded, __ATOMIC_RELAXED);
}
