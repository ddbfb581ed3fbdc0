/* Recording of a program that runs. See control.h. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "channel.h"
#include "events.h"
#include "finisher.h"
#include "no_profile.h"
#include "sampler/profile/file_name.h"
#include "sampler/util/clock.h"

static int attach_failed(pid_t pid, const char *why) {
  fprintf(stderr, "quartz: process %ld can't be recorded: %s\n", (long)pid, why);
  return QUARTZ_FAILED;
}

int qzi_attach(const struct qzi_options *options) {
  sigset_t before;
  const char *why;
  char path[4200], program[300];
  struct qz_message message;
  pid_t pid = options->pid;
  int signals = qzi_signals_open(&before), session = -1;
  if (signals < 0) return attach_failed(pid, strerror(errno));
  signal(SIGPIPE, SIG_IGN);
  if (kill(pid, 0) && errno == ESRCH) return attach_failed(pid, "there is no such process; ps -u $USER lists yours");
  if (kill(pid, 0) && errno == EPERM) return attach_failed(pid, "it belongs to another user; run quartz as that user");
  qzi_name_of_program(program, sizeof program, pid);
  if (qzi_name_make(path, sizeof path, options->output, program, pid, pid))
    return attach_failed(pid, "the file name is too long; choose another --output");
  if (!qzi_name_writable(path)) return QUARTZ_FAILED;
  struct qzi_replaceable may = qzi_replaceable_now(path);
  int socket = qzi_channel_connect(pid, &why);
  if (socket < 0) return attach_failed(pid, why);
  struct qzi_clock_page clock = qzi_clock_page_make(options->recording.span ? QZ_WANTS_SPAN : 0);
  if (qzi_channel_send(socket, QZ_ATTACH, NULL, clock.fd) || qzi_channel_receive(socket, 5000, &message, &session))
    return attach_failed(pid, "it did not answer in 5 s; is it stopped? try again when it runs");
  if (message.type == QZ_REFUSED) return attach_failed(pid, message.text);
  if (message.type != QZ_HELLO || session < 0)
    return attach_failed(pid, "it gave no session; build it with this version of Quartz");
  struct qzi_admitted *admitted =
    qzi_admit(pid, socket, session, clock, 0, path, &may, options->message_fd, &options->recording);
  close(session);
  if (!admitted) return QUARTZ_FAILED;
  qzi_admitted_all[qzi_admitted_count++] = admitted;
  uint64_t end_ns = options->seconds > 0 ? qzi_clock_ns() + (uint64_t)(options->seconds * 1e9) : UINT64_MAX;
  struct pollfd polls[2 + 3];
  while (qzi_admitted_count) {
    uint64_t now_ns = qzi_clock_ns();
    if (now_ns >= end_ns) qzi_interrupt_all();
    uint64_t left_ms = (end_ns - now_ns) / 1000000 + 1;
    polls[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = options->front_fd};
    qzi_wait_and_attend(polls, 2, end_ns == UINT64_MAX ? -1 : left_ms > 1000 ? 1000 : (int)left_ms, 0);
    if (polls[1].revents) qzi_interrupt_all();
    enum qzi_sender sender;
    for (int number; (number = qzi_signal_next(signals, &sender)) != 0;) {
      if (number == SIGCONT)
        qzi_stood_still();
      else if (number != SIGCHLD)
        qzi_interrupt_all();
    }
  }
  qzi_finish_all();
  return 0;
}
