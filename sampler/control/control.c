/* The event loops of record and attach. See control.h. */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "no_profile.h"
#include "target.h"
#include "channel.h"
#include "finisher.h"
#include "launch.h"
#include "preload.h"
#include "sampler/linux/process.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/profile/file_name.h"
#include "sampler/util/clock.h"

#define HELLO_MS    1000 /* a program that connects says hello at once */
#define PATIENCE_MS 3000 /* for what a program does at its end */

static struct qzi_admitted *all[QZI_ADMITTED_MAX];
static unsigned count;

/* Ctrl-C and the like come as data, not as interruptions. The mask before goes to the program. */
static int open_signals(sigset_t *before) {
  sigset_t mine;
  sigemptyset(&mine);
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGCONT};
  for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; k++) sigaddset(&mine, numbers[k]);
  if (sigprocmask(SIG_BLOCK, &mine, before)) return -1;
  return signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Of the launched process by exec: what it has become, and the profile of what it was before, if that was worth one. */
static struct {
  pid_t pid;
  int happened;
  enum qz_program kind;
  char *kept;
} exec_of;

static void dismiss(unsigned k, uint32_t reason, int32_t status) {
  struct qzi_admitted *one = all[k];
  all[k] = all[--count];
  qzi_stop(one, reason);
  if (reason != QZ_END_EXEC) {
    qzi_finish_later(one, reason, status);
    return;
  }
  int brief = qzi_admitted_brief(one); /* what comes before is no profile of what was to be recorded */
  if (one->pid == exec_of.pid) {
    char program[64];
    snprintf(program, sizeof program, "/proc/%ld/exe", (long)exec_of.pid);
    exec_of.kind = qz_program_at(program);
    exec_of.happened = 1;
    free(exec_of.kept);
    exec_of.kept = brief ? NULL : strdup(one->recording.file.path);
  }
  if (brief)
    qzi_discard(one);
  else
    qzi_finish(one, reason, status); /* at once: what the process runs now gets a file of the same name */
}
static void stop_all(void) { /* all end now, not one after the other */
  for (unsigned k = 0; k < count; k++) all[k]->recording.stop = 1;
}
static void interrupt_all(void) {
  stop_all();
  while (count) dismiss(count - 1, QZ_END_INTERRUPTED, 0);
}
/* Children of a program that has ended: those that have not ended themselves outlive it. */
static void dismiss_children(void) {
  stop_all();
  while (count) {
    const struct qzi_admitted *last = all[count - 1];
    int32_t status = 0;
    uint32_t reason =
      qzi_process_ended(last->pidfd) ? qzi_process_outcome(last->pid, last->pidfd, &status) : QZ_END_INTERRUPTED;
    dismiss(count - 1, reason, status);
  }
}

/* Polls everything; the first `own` polls are the caller's. Attends to the recordings, and to what they read at
 * intervals. */
static void wait_and_attend(struct pollfd *polls, unsigned own, int timeout_ms, pid_t child) {
  for (unsigned k = 0; k < count; k++) qzi_admitted_poll(all[k], polls + own + 3 * k);
  for (unsigned k = 0; k < count; k++) {
    int due_ms = qzi_admitted_tend(all[k]);
    if (timeout_ms < 0 || due_ms < timeout_ms) timeout_ms = due_ms;
  }
  if (poll(polls, own + 3 * count, timeout_ms) <= 0) {
    for (unsigned k = 0; k < own; k++) polls[k].revents = 0;
    return;
  }
  for (unsigned k = count; k-- > 0;) { /* from the last: dismiss moves the last one */
    struct qzi_outcome outcome;
    if (qzi_admitted_attend(all[k], polls + own + 3 * k, all[k]->pid == child, &outcome))
      dismiss(k, outcome.reason, outcome.status);
  }
}

enum sender {
  TERMINAL, /* the program has got it, too */
  FRONT,    /* who started us: `quartz run` passes on what it gets, maybe what we have got already */
  ANOTHER
};
/* The next signal: its number, and who sent it. 0: none. */
static int next_signal(int signals, enum sender *sender) {
  struct signalfd_siginfo info;
  if (read(signals, &info, sizeof info) != (ssize_t)sizeof info) return 0;
  *sender = info.ssi_code == SI_KERNEL ? TERMINAL : (pid_t)info.ssi_pid == getppid() ? FRONT : ANOTHER;
  return (int)info.ssi_signo;
}

static void stood_still(void) {
  for (unsigned k = 0; k < count; k++) all[k]->recording.rebase = 1;
}

/* ---- record ---- */

struct launched {
  const struct qzi_options *options;
  const char *program;        /* as it was named on the command line */
  char *output;               /* of the child's profile; NULL: not known before there is a child */
  struct qzi_replaceable may; /* what that may replace */
  pid_t child;
  unsigned hellos;      /* programs that said hello, recorded or not */
  int over;             /* 1: no more recordings */
  enum qz_program kind; /* of the program that the child runs now */
  int layer;            /* 1: the pthread layer was put in */
  int no_proc;          /* 1: the program can't be read in /proc */
  unsigned pressed;     /* signals of `harder` that the program has got, because the front end is gone */
  uint64_t press_ns;    /* when it gets the next one */
  int direct;           /* last SIGINT or SIGQUIT that did not come from FRONT, which may pass it on again; 0: none */
};

/* The child runs another program now: that gets its name, and what was recorded before goes aside. */
static void make_room(const struct launched *run) {
  char aside[4096];
  if (exec_of.kept && !access(exec_of.kept, F_OK) && !qzi_name_aside(aside, sizeof aside, exec_of.kept, run->child))
    fprintf(stderr, "quartz: what the process ran before (exec) is in %s; %s goes on with what it runs now\n", aside,
            exec_of.kept);
  free(exec_of.kept);
  exec_of.kept = NULL;
}

/* The name of the profile of a process that was launched or is a descendant. */
static int name_for(const struct launched *run, char *path, size_t bytes, pid_t pid) {
  char program[300];
  if (pid == run->child && run->output) return (size_t)snprintf(path, bytes, "%s", run->output) < bytes ? 0 : -1;
  if (pid == run->child)
    snprintf(program, sizeof program, "%s", run->program);
  else
    qzi_name_of_program(program, sizeof program, pid);
  return qzi_name_make(path, bytes, run->options->output, program, pid, run->child);
}

/* A signal that asks us to end asks the program, too. */
static void pass_on(struct launched *run, int number, enum sender sender) {
  int keyboard = number == SIGINT || number == SIGQUIT, repeated = keyboard && sender == FRONT && run->direct == number;
  run->direct = keyboard && sender != FRONT ? number : 0;
  if (!repeated && !(keyboard && sender == TERMINAL)) kill(run->child, number);
}

static void admit_next(struct launched *run, int listener) {
  pid_t pid;
  struct qz_message message;
  char path[4096];
  int session = -1, socket = qzi_channel_accept(listener, &pid);
  if (socket < 0) return;
  if (qzi_channel_receive(socket, HELLO_MS, &message, &session) || message.type != QZ_HELLO || session < 0) {
    if (message.type == QZ_REFUSED) { /* the program has said why */
      run->hellos++;
      if (pid == run->child) exec_of.happened = 0;
    }
    if (session >= 0) close(session);
    close(socket);
    return;
  }
  run->hellos++;
  /* A second hello of the same process: it has replaced itself by another program (exec). */
  for (unsigned k = 0; k < count; k++)
    if (all[k]->pid == pid) {
      dismiss(k, QZ_END_EXEC, 0);
      break;
    }
  int itself = pid == run->child;
  const char *refusal = run->over                   ? "recording has ended"
                        : run->no_proc              ? qzi_no_proc
                        : count == QZI_ADMITTED_MAX ? "too many programs at once"
                                                    : NULL;
  if (!refusal && !itself && !run->options->recording.children)
    refusal = "child processes are not recorded; use --children";
  if (!refusal && itself) make_room(run);
  if (!refusal && name_for(run, path, sizeof path, pid)) refusal = "the file name is too long";
  if (refusal) {
    qzi_channel_send(socket, QZ_REFUSED, refusal);
    close(socket);
  } else {
    struct qzi_admitted *admitted = qzi_admit(pid, socket, session, QZ_WELCOME, path, &run->may,
                                              itself ? run->options->tell_fd : -1, &run->options->recording);
    if (admitted) { all[count++] = admitted; }
  }
  if (itself) exec_of.happened = 0; /* recorded, or the user has been told why not */
  close(session);
}

/* Says before the program runs that its profile can't be written. */
static int writable(const char *path) {
  struct stat old;
  if (!stat(path, &old) && !S_ISREG(old.st_mode)) {
    fprintf(stderr, "quartz: %s is not a plain file; choose another --output\n", path);
    return 0;
  }
  char trial[4200];
  snprintf(trial, sizeof trial, "%s.%ld.new", path, (long)getpid());
  int fd = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    fprintf(stderr, "quartz: can't write %s: %s; choose another --output\n", path, strerror(errno));
    return 0;
  }
  close(fd);
  unlink(trial);
  return 1;
}

/* The screen that the program was started for is gone: nobody is left to end it. It is asked as a user asks, then
 * harder; with all that it started, where we lead a process group of our own. */
static const int harder[] = {SIGINT, SIGTERM, SIGKILL};
#define HARDER_COUNT (sizeof harder / sizeof *harder)

static void press(struct launched *run) {
  kill(getpgrp() == getpid() ? 0 : run->child, harder[run->pressed++]);
  run->press_ns = qzi_clock_ns() + PATIENCE_MS * 1000000ull;
}

/* Until the next signal of `harder` is due; -1: none is to come. */
static int press_due_ms(const struct launched *run) {
  if (!run->pressed || run->pressed == HARDER_COUNT) return -1;
  uint64_t now_ns = qzi_clock_ns();
  return now_ns < run->press_ns ? (int)((run->press_ns - now_ns) / 1000000) + 1 : 0;
}

static int record(struct launched *run, int listener, int signals) {
  static struct pollfd polls[3 + 3 * QZI_ADMITTED_MAX];
  for (;;) {
    polls[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    polls[2] = (struct pollfd){.fd = run->pressed ? -1 : run->options->front_fd};
    wait_and_attend(polls, 3, press_due_ms(run), run->child);
    if (polls[2].revents) {
      press(run);
      run->over = 1;
      interrupt_all();
    } else if (press_due_ms(run) == 0) {
      press(run);
    }
    if (polls[1].revents) admit_next(run, listener);
    enum sender sender;
    for (int number; (number = next_signal(signals, &sender)) != 0;) {
      int ended = 0;
      int32_t status = 0;
      uint32_t reason = QZ_END_NONE;
      switch (number) {
      case SIGCONT: stood_still(); break;
      case SIGCHLD: ended = qzi_child_outcome(run->child, &reason, &status); break;
      default:
        if (run->pressed) break; /* our own, sent to the group; the program is being asked already */
        pass_on(run, number, sender);
        run->over = 1;
        interrupt_all();
      }
      if (!ended) continue;
      for (unsigned k = count; k-- > 0;)
        if (all[k]->pid == run->child) dismiss(k, reason, status);
      int sandboxed = qz_sandbox_filters(run->child) > qz_sandbox_filters(0);
      waitpid(run->child, NULL, 0); /* not before: until then the kernel tells what it used */
      dismiss_children();
      qzi_finish_all();
      if (!run->over && (!run->hellos || exec_of.happened)) /* else who said hello was told, and so was the user */
        qzi_explain_absence(&(struct qzi_absence){.program = run->options->program[0],
                                                  .kind = exec_of.happened ? exec_of.kind : run->kind,
                                                  .after_exec = exec_of.happened,
                                                  .layer = run->layer,
                                                  .no_proc = run->no_proc,
                                                  .sandboxed = sandboxed});
      return reason == QZ_END_SIGNAL ? 128 + status : status;
    }
  }
}

/* Quartz can't work here, and has said so: the program runs in our place. */
static int run_alone(const struct qzi_options *options, const sigset_t *mask) {
  sigprocmask(SIG_SETMASK, mask, NULL);
  qzi_run_instead(options->program);
  return qzi_launch_failed(options->program[0], errno);
}

int qzi_record(const struct qzi_options *options) {
  sigset_t before;
  sigprocmask(SIG_BLOCK, NULL, &before);
  char name[QZI_NAME_BYTES], output[4096];
  const char *slash = strrchr(options->program[0], '/');
  struct launched run = {.options = options, .program = slash ? slash + 1 : options->program[0]};
  if (qzi_name_make(output, sizeof output, options->output, run.program, getpid(), getpid())) {
    fputs("quartz: the file name is too long; choose another --output\n", stderr);
    return QUARTZ_FAILED;
  }
  if (!writable(output)) return QUARTZ_FAILED;
  if (!qzi_name_wants_pid(options->output)) run.output = output;
  run.may = qzi_replaceable_now(run.output);
  int signals = open_signals(&before), listener = qzi_channel_listen(name);
  if (signals < 0 || listener < 0) {
    fprintf(stderr, "quartz: no profile: no socket can be made: %s; raise the limit of open files (ulimit -n)\n",
            strerror(errno));
    return run_alone(options, &before);
  }
  char layer[4096];
  run.kind = qz_program_named(options->program[0]);
  run.no_proc = !qzi_process_in_proc();
  run.layer = run.kind == QZ_PROGRAM_PLAIN && !run.no_proc && !qzi_layer_path(layer, sizeof layer);
  run.child = qzi_launch(options->program, name, options->recording.children, run.layer ? layer : NULL, &before);
  if (run.child == QZI_NO_PROCESS) {
    fprintf(stderr, "quartz: no profile: no second process can be made: %s; raise the limits (ulimit -u, -v, -n)\n",
            strerror(errno));
    return run_alone(options, &before);
  }
  if (run.child < 0) return qzi_launch_failed(options->program[0], errno);
  exec_of.pid = run.child;
  if (run.layer) qzi_running_cost_ns(); /* while the program is loaded: it would wait for it later */
  signal(SIGPIPE, SIG_IGN); /* whoever read our messages may be gone: the profile is finished all the same */
  return record(&run, listener, signals);
}

/* ---- attach ---- */

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
  int signals = open_signals(&before), session = -1;
  if (signals < 0) return attach_failed(pid, strerror(errno));
  signal(SIGPIPE, SIG_IGN);
  if (kill(pid, 0) && errno == ESRCH) return attach_failed(pid, "there is no such process; ps -u $USER lists yours");
  if (kill(pid, 0) && errno == EPERM) return attach_failed(pid, "it belongs to another user; run quartz as that user");
  qzi_name_of_program(program, sizeof program, pid);
  if (qzi_name_make(path, sizeof path, options->output, program, pid, pid))
    return attach_failed(pid, "the file name is too long; choose another --output");
  if (!writable(path)) return QUARTZ_FAILED;
  struct qzi_replaceable may = qzi_replaceable_now(path);
  int socket = qzi_channel_connect(pid, &why);
  if (socket < 0) return attach_failed(pid, why);
  if (qzi_channel_send(socket, QZ_ATTACH, NULL) || qzi_channel_receive(socket, 5000, &message, &session))
    return attach_failed(pid, "it did not answer in 5 s; is it stopped? try again when it runs");
  if (message.type == QZ_REFUSED) return attach_failed(pid, message.text);
  if (message.type != QZ_HELLO || session < 0)
    return attach_failed(pid, "it gave no session; build it with this version of Quartz");
  struct qzi_admitted *admitted = qzi_admit(pid, socket, session, 0, path, &may, options->tell_fd, &options->recording);
  close(session);
  if (!admitted) return QUARTZ_FAILED;
  all[count++] = admitted;
  uint64_t end_ns = options->seconds > 0 ? qzi_clock_ns() + (uint64_t)(options->seconds * 1e9) : UINT64_MAX;
  struct pollfd polls[2 + 3];
  while (count) {
    uint64_t now_ns = qzi_clock_ns();
    if (now_ns >= end_ns) interrupt_all();
    uint64_t left_ms = (end_ns - now_ns) / 1000000 + 1;
    polls[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = options->front_fd};
    wait_and_attend(polls, 2, end_ns == UINT64_MAX ? -1 : left_ms > 1000 ? 1000 : (int)left_ms, 0);
    if (polls[1].revents) interrupt_all();
    enum sender sender;
    for (int number; (number = next_signal(signals, &sender)) != 0;) {
      if (number == SIGCONT)
        stood_still();
      else if (number != SIGCHLD)
        interrupt_all();
    }
  }
  qzi_finish_all();
  return 0;
}
