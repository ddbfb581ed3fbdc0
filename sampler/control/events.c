/* See events.h. */
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "finisher.h"
#include "follow.h"
#include "sampler/linux/process.h"
#include "sampler/util/clock.h"

struct qzi_exec qzi_exec_of;

int qzi_signals_open(sigset_t *before) {
  sigset_t mine;
  sigemptyset(&mine);
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGCONT};
  for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++) sigaddset(&mine, numbers[k]);
  if (sigprocmask(SIG_BLOCK, &mine, before)) return -1;
  return signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The launched process has called exec. `kept`: the file with the profile of the previous program, which becomes ours;
 * NULL: none. */
static void note_exec(char *kept) {
  char program[64];
  snprintf(program, sizeof program, "/proc/%ld/exe", (long)qzi_exec_of.pid);
  /* Of one that has ended meanwhile there is no file to look at: nothing is said of it. */
  int ended = access(program, F_OK) && errno == ENOENT;
  qzi_exec_of.kind = ended ? QZ_PROGRAM_PLAIN : qz_program_at(program);
  qzi_exec_of.happened = 1;
  free(qzi_exec_of.kept);
  qzi_exec_of.kept = kept;
}

void qzi_dismiss(unsigned k, uint32_t reason, int32_t status) {
  struct qzi_target *one = qzi_targets[k];
  qzi_targets[k] = qzi_targets[--qzi_target_count];
  qzi_stop(one, reason);
  if (qzi_follow_hold(one, reason, status)) return;
  if (reason != QZ_END_EXEC) {
    qzi_summarize(one);
    qzi_finish_later(one, reason, status);
    return;
  }
  int brief = qzi_target_brief(one); /* a program that only executed another one is not worth a profile of its own */
  if (one->pid == qzi_exec_of.pid) note_exec(brief ? NULL : strdup(one->recording.file.path));
  if (brief) {
    qzi_discard(one);
    return;
  }
  qzi_summarize(one);
  qzi_finish(one, reason, status); /* now, because the process's next program gets a file of the same name */
}
static void stop_all(void) { /* stops all of them first, so that the last does not go on while the first is finished */
  for (unsigned k = 0; k < qzi_target_count; k++) qzi_recording_ends(&qzi_targets[k]->recording);
}
static void end_all(uint32_t reason) {
  stop_all();
  while (qzi_target_count) qzi_dismiss(qzi_target_count - 1, reason, 0);
  qzi_follow_settle();
}
void qzi_interrupt_all(void) { end_all(QZ_END_INTERRUPTED); }
void qzi_expire_all(void) { end_all(QZ_END_TIME); }
void qzi_dismiss_children(void) {
  stop_all();
  while (qzi_target_count) {
    const struct qzi_target *last = qzi_targets[qzi_target_count - 1];
    int32_t status = 0;
    uint32_t reason =
      qzi_process_ended(last->pidfd) ? qzi_process_outcome(last->pid, last->pidfd, &status) : QZ_END_INTERRUPTED;
    qzi_dismiss(qzi_target_count - 1, reason, status);
  }
  qzi_follow_settle();
}

void qzi_wait_and_attend(struct pollfd *polls, unsigned own, int timeout_ms, pid_t child) {
  for (unsigned k = 0; k < qzi_target_count; k++) qzi_target_poll(qzi_targets[k], polls + own + 3 * k);
  for (unsigned k = 0; k < qzi_target_count; k++) {
    int due_ms = qzi_target_tend(qzi_targets[k]);
    if (timeout_ms < 0 || due_ms < timeout_ms) timeout_ms = due_ms;
  }
  if (poll(polls, own + 3 * qzi_target_count, timeout_ms) <= 0) {
    for (unsigned k = 0; k < own; k++) polls[k].revents = 0;
    return;
  }
  for (unsigned k = qzi_target_count; k-- > 0;) { /* from the last one on, because qzi_dismiss moves the last one */
    struct qzi_outcome outcome;
    if (qzi_target_attend(qzi_targets[k], polls + own + 3 * k, qzi_targets[k]->pid == child, &outcome))
      qzi_dismiss(k, outcome.reason, outcome.status);
  }
}

int qzi_signal_next(int signals, enum qzi_sender *sender) {
  struct signalfd_siginfo info;
  if (read(signals, &info, sizeof info) != (ssize_t)sizeof info) return 0;
  *sender = info.ssi_code == SI_KERNEL ? QZI_TERMINAL : (pid_t)info.ssi_pid == getppid() ? QZI_FRONT : QZI_ANOTHER;
  return (int)info.ssi_signo;
}

void qzi_pass_on(pid_t child, int *direct, int number, enum qzi_sender sender) {
  int keyboard = number == SIGINT || number == SIGQUIT, repeated = keyboard && sender == QZI_FRONT && *direct == number;
  *direct = keyboard && sender != QZI_FRONT ? number : 0;
  if (!repeated && !(keyboard && sender == QZI_TERMINAL)) kill(child, number);
}

int qzi_wait_for_end(int signals, pid_t child, uint64_t *end_ns) {
  for (int direct = 0;;) {
    struct pollfd ready = {.fd = signals, .events = POLLIN};
    poll(&ready, 1, -1);
    *end_ns = qzi_clock_ns();
    enum qzi_sender sender;
    for (int number; (number = qzi_signal_next(signals, &sender)) != 0;) {
      uint32_t reason;
      int32_t status;
      if (number != SIGCHLD) {
        if (number != SIGCONT) qzi_pass_on(child, &direct, number, sender);
      } else if (qzi_child_outcome(child, &reason, &status)) {
        return reason == QZ_END_SIGNAL ? 128 + status : status;
      }
    }
  }
}

void qzi_stood_still(void) {
  for (unsigned k = 0; k < qzi_target_count; k++) qzi_targets[k]->recording.rebase = 1;
}

int qzi_name_writable(const char *path) {
  struct stat old;
  if (!stat(path, &old) && !S_ISREG(old.st_mode)) {
    fprintf(stderr, "quartz: %s is not a plain file; choose another --output\n", path);
    return 0;
  }
  qzi_name_make_directory(path);
  char trial[4200];
  snprintf(trial, sizeof trial, "%s.%ld.new", path, (long)getpid());
  int fd = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    fprintf(stderr, "quartz: cannot write %s: %s; choose another --output\n", path, strerror(errno));
    return 0;
  }
  close(fd);
  unlink(trial);
  return 1;
}
