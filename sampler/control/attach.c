/* Records a running program. See control.h. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "abi/message.h"
#include "channel.h"
#include "events.h"
#include "finisher.h"
#include "no_profile.h"
#include "rotation.h"
#include "sampler/outside/session.h"
#include "sampler/profile/file_name.h"
#include "sampler/util/clock.h"
#include "watch.h"

static int attach_failed(pid_t pid, const char *why) {
  fprintf(stderr, "quartz: process %ld cannot be recorded: %s\n", (long)pid, why);
  return QUARTZ_FAILED;
}

/* Asks a program that publishes for its session. Descriptors are -1 if there are none. Returns 0, or -1 with the
 * reason as a clause in *why. */
static int ask_for_session(int socket, int clock, int *session, struct qz_message *message, const char **why) {
  *why = "it did not answer within 5 s; if it is stopped, continue it, and try again";
  if (qz_message_send(socket, QZ_ATTACH, NULL, clock) || qzi_channel_receive(socket, 5000, message, session)) return -1;
  *why = message->text;
  if (message->type == QZ_REFUSED) return -1;
  *why = "it did not pass its session to the sampler; build it with this version of Quartz";
  return message->type == QZ_HELLO && *session >= 0 ? 0 : -1;
}

static struct qzi_outside *watch(const struct qzi_options *options, const char **why) {
  char whose[64];
  snprintf(whose, sizeof whose, "process %ld was started without Quartz", (long)options->pid);
  return qzi_watch(&options->recording, options->pid, whose, why);
}

int qzi_attach(struct qzi_options *options) {
  sigset_t before;
  const char *why;
  char path[4200], program[300];
  struct qz_message message;
  pid_t pid = options->pid;
  int signals = qzi_signals_open(&before), session = -1;
  if (signals < 0) return attach_failed(pid, strerror(errno));
  signal(SIGPIPE, SIG_IGN);
  if (kill(pid, 0) && errno == ESRCH) return attach_failed(pid, "there is no such process; ps -u $USER lists yours");
  if (kill(pid, 0) && errno == EPERM)
    return attach_failed(pid, "it belongs to another user; run quartz as that user, or as root");
  qzi_name_of_program(program, sizeof program, pid);
  if (qzi_name_make(path, sizeof path, options->output, program, pid, pid))
    return attach_failed(pid, "the file name is too long; choose another --output");
  char base[sizeof path];
  memcpy(base, path, sizeof base);
  if (options->rotate_seconds > 0 && qzi_rotation_name(path, sizeof path, base))
    return attach_failed(pid, "the file name is too long; choose another --output");
  if (!qzi_name_writable(path)) return QUARTZ_FAILED;
  struct qzi_replaceable may = qzi_replaceable_now(path);
  int socket = qzi_channel_connect(pid, &why);
  if (socket < 0 && !(options->recording.outside = watch(options, &why))) return attach_failed(pid, why);
  struct qzi_clock_page clock = qzi_clock_page_for(pid, &options->recording);
  if (socket >= 0 && ask_for_session(socket, clock.fd, &session, &message, &why)) return attach_failed(pid, why);
  if (socket < 0) session = dup(qzi_outside_fd(options->recording.outside));
  struct qzi_target *target =
    qzi_admit(pid, socket, session, clock, 0, path, &may, options->message_fd, &options->recording);
  close(session);
  if (!target) return QUARTZ_FAILED;
  qzi_targets[qzi_target_count++] = target;
  qzi_rotation_begin(options, base);
  uint64_t end_ns = options->seconds > 0 ? qzi_clock_ns() + (uint64_t)(options->seconds * 1e9) : UINT64_MAX;
  struct pollfd polls[2 + 3];
  while (qzi_target_count) {
    uint64_t now_ns = qzi_clock_ns();
    if (now_ns >= end_ns) qzi_expire_all();
    uint64_t left_ms = (end_ns - now_ns) / 1000000 + 1;
    polls[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = options->front_fd};
    qzi_wait_and_attend(polls, 2, end_ns == UINT64_MAX ? -1 : left_ms > 1000 ? 1000 : (int)left_ms, 0);
    if (polls[1].revents) qzi_interrupt_all();
    qzi_rotation_look(pid);
    enum qzi_sender sender;
    for (int number; (number = qzi_signal_next(signals, &sender)) != 0;) {
      if (number == SIGCONT)
        qzi_stood_still();
      else if (number != SIGCHLD)
        qzi_interrupt_all();
    }
  }
  qzi_finish_all();
  qzi_outside_close(options->recording.outside);
  return 0;
}
