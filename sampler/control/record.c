/* Records a launched program. See control.h. */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "account.h"
#include "abi/message.h"
#include "channel.h"
#include "command_time.h"
#include "events.h"
#include "finisher.h"
#include "follow.h"
#include "launch.h"
#include "newcomers.h"
#include "no_profile.h"
#include "preload.h"
#include "rotation.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/linux/process.h"
#include "sampler/profile/file_name.h"
#include "sampler/util/clock.h"
#include "tree_watch.h"
#include "watch.h"

#define HELLO_MS    1000 /* timeout for the hello of a connected program, which sends it at once */
#define PATIENCE_MS 3000 /* timeout for work of a program at its end */

struct launched {
  const struct qzi_options *options;
  const char *program;                   /* as given on the command line */
  struct qzi_recording_request followed; /* the request for recordings of processes that a wrapper starts */
  char *output;                          /* for the child's profile; NULL: unknown until the child exists */
  char base[4096];                       /* the base of file names (rotation.h) */
  struct qzi_replaceable may;            /* files that it may replace */
  pid_t child;
  unsigned hellos;             /* number of programs that connected, recorded or not */
  int ended;                   /* 1: the program has ended, and no process that begins now is recorded */
  int over;                    /* 1: no more recordings begin */
  enum qz_program kind;        /* of the program that the child executes now */
  int layer;                   /* 1: the pthread layer was preloaded */
  int no_proc;                 /* 1: the program's /proc entries cannot be read */
  unsigned pressed;            /* number of signals of `harder` that were sent because the front end is gone */
  uint64_t press_ns;           /* when the next one is due */
  int direct;                  /* for qzi_pass_on */
  uint64_t begin_ns;           /* start time */
  const char *unwatched;       /* why the child's program cannot be observed, a clause; otherwise NULL */
  struct qzi_tree_watch *tree; /* the observation of all processes; NULL: none */
  struct qzi_options watched;  /* the request for recording it from outside, with its session if there is one */
};

/* The child executes another program, which gets the name of the profile; the previous profile is renamed. */
static void make_room(const struct launched *run) {
  char aside[4096];
  if (qzi_exec_of.kept && !access(qzi_exec_of.kept, F_OK) &&
      !qzi_name_aside(aside, sizeof aside, qzi_exec_of.kept, run->child))
    fprintf(stderr, "quartz: the program that the process ran before (exec) is recorded in %s, its present one in %s\n",
            aside, qzi_exec_of.kept);
  free(qzi_exec_of.kept);
  qzi_exec_of.kept = NULL;
}

/* The name of the profile of the launched process or of a descendant, which executes `program`. */
static int name_for(struct launched *run, char *path, size_t bytes, const char *program, pid_t pid) {
  if (pid == run->child && run->output) {
    if ((size_t)snprintf(path, bytes, "%s", run->output) >= bytes) return -1;
  } else if (qzi_name_make(path, bytes, run->options->output, program, pid, run->child)) {
    return -1;
  }
  if (pid != run->child || run->options->rotate_seconds <= 0) return 0;
  snprintf(run->base, sizeof run->base, "%s", path);
  return qzi_rotation_name(path, bytes, run->base);
}

/* Returns 1 if the name differs from the requested one only by the process number. */
static int is_numbered(const struct launched *run, const char *path, const char *program, pid_t pid) {
  char plain[4096];
  return pid != run->child && !qzi_name_make(plain, sizeof plain, run->options->output, program, pid, pid) &&
         strcmp(path, plain) != 0;
}

/* The number of programs being recorded that a wrapper started. */
static unsigned followed_now(void) {
  unsigned count = 0;
  for (unsigned k = 0; k < qzi_target_count; k++) count += (unsigned)qzi_targets[k]->recording.request->followed;
  return count;
}

/* If a process that connects is being recorded already, it has executed another program, before its first connection
 * was seen to be closed. */
static void replaced(pid_t pid) {
  qzi_newcomer_forget(pid);
  for (unsigned k = 0; k < qzi_target_count; k++)
    if (qzi_targets[k]->pid == pid) {
      qzi_dismiss(k, QZ_END_EXEC, 0);
      return;
    }
}

static const char *file_name_too_long = "the file name is too long";

/* Records a process that has connected; takes over `socket` and `clock`, while `session` stays the caller's. */
static void admit(struct launched *run, const struct qzi_newcomer *who, uint32_t answer) {
  char path[4096], program[300];
  int itself = who->pid == run->child, followed = !itself && run->options->recording.children == QZI_CHILDREN_FOLLOW;
  if (itself)
    snprintf(program, sizeof program, "%s", run->program);
  else
    qzi_name_of_program(program, sizeof program, who->pid);
  struct qzi_clock_page clock = who->clock;
  if (name_for(run, path, sizeof path, program, who->pid)) {
    if (who->socket >= 0) {
      qz_message_send(who->socket, QZ_REFUSED, followed ? NULL : file_name_too_long, -1);
      close(who->socket);
    }
    qzi_clock_page_close(&clock);
    return;
  }
  struct qzi_target *target =
    qzi_admit(who->pid, who->socket, who->session, clock, answer, path, &run->may,
              itself ? run->options->message_fd : -1, followed ? &run->followed : &run->options->recording);
  if (!target) return;
  if (who->samples >= 0) qzi_recording_samples(&target->recording, dup(who->samples));
  if (who->begun_ns) qzi_recording_went_on(&target->recording, who->begun_ns);
  snprintf(target->program, sizeof target->program, "%s", program);
  target->numbered = is_numbered(run, path, program, who->pid);
  target->forked = who->forked;
  target->ranked = followed && qzi_name_ranked(who->pid);
  qzi_targets[qzi_target_count++] = target;
  if (!itself) return;
  qzi_recording_command(&target->recording, qzi_command_before_ns(run->begin_ns));
  qzi_rotation_begin(run->options, run->base);
}

/* Records followed processes that have worked for a while. */
static void admit_grown(struct launched *run) {
  struct qzi_newcomer grown;
  if (run->over) qzi_newcomers_forget();
  while (qzi_newcomer_grown(&grown)) {
    if (qzi_target_count < QZI_TARGETS_MAX && followed_now() < QZI_FOLLOWED_MAX) {
      admit(run, &grown, 0);
    } else {
      if (grown.socket >= 0) close(grown.socket);
      qzi_clock_page_close(&grown.clock);
    }
    qzi_newcomer_close(&grown);
  }
}

static void admit_next(struct launched *run, int listener) {
  struct qzi_newcomer who = {.clock = {.fd = -1}, .samples = -1};
  struct qz_message message;
  who.socket = qzi_channel_accept(listener, &who.pid);
  if (who.socket < 0) return;
  if (qzi_channel_receive(who.socket, HELLO_MS, &message, &who.session) || message.type != QZ_HELLO ||
      who.session < 0) {
    if (message.type == QZ_REFUSED) { /* the program has sent the reason */
      run->hellos++;
      replaced(who.pid);
      if (who.pid == run->child) qzi_exec_of.happened = 0;
    }
    if (who.session >= 0) close(who.session);
    close(who.socket);
    return;
  }
  if (run->ended) {
    qz_message_send(who.socket, QZ_REFUSED, NULL, -1);
    close(who.session);
    close(who.socket);
    return;
  }
  run->hellos++;
  replaced(who.pid);
  who.forked = !strcmp(message.text, QZ_HELLO_FORKED);
  int itself = who.pid == run->child, followed = !itself && run->options->recording.children == QZI_CHILDREN_FOLLOW;
  const char *refusal = run->over                             ? "recording has ended"
                        : run->no_proc                        ? qzi_no_proc
                        : qzi_target_count == QZI_TARGETS_MAX ? "too many programs at once"
                                                              : NULL;
  if (!refusal && !itself && !run->options->recording.children)
    refusal = "child processes are not recorded; use --children";
  if (!refusal && followed && (followed_now() == QZI_FOLLOWED_MAX || !qzi_follow_has_room()))
    refusal = "too many programs";
  if (!refusal && itself) make_room(run);
  if (!refusal) {
    who.clock = qzi_clock_page_for(who.pid, &run->options->recording);
    if (followed && !qzi_newcomer_welcome(&who)) return;
    if (followed) {
      refusal = "too many programs";
      qzi_clock_page_close(&who.clock);
    }
  }
  if (refusal) {
    qz_message_send(who.socket, QZ_REFUSED, followed ? NULL : refusal, -1);
    close(who.socket);
  } else {
    admit(run, &who, QZ_WELCOME);
  }
  if (itself) qzi_exec_of.happened = 0; /* it is recorded, or the user has been informed why not */
  close(who.session);
}

/* Informs followed processes whether their children will be recorded. */
static void say_room(void) {
  static int said;
  int crowded = !qzi_follow_has_room();
  if (crowded || said) qzi_newcomers_say(crowded);
  for (unsigned k = 0; (crowded || said) && k < qzi_target_count; k++) {
    struct qz_clock_page *page = qzi_targets[k]->recording.clock.page;
    if (page) __atomic_store_n(&page->crowded, (uint64_t)crowded, __ATOMIC_RELAXED);
  }
  said = crowded;
}

/* The child executes a program in which the layer does not work: observes it from outside from now on. If that is
 * refused, the reason is printed at the end. */
static void watch_child(struct launched *run, const char *program, enum qz_program kind) {
  char whose[400], path[4096];
  snprintf(whose, sizeof whose, "%s %s", program, qzi_watched_because(kind));
  if (run->watched.recording.outside) qzi_finish_all(); /* of the previous program */
  qzi_outside_close(run->watched.recording.outside);
  run->watched = *run->options;
  uint32_t reason;
  int32_t status;
  run->unwatched = "it had ended before";
  if (qzi_child_outcome(run->child, &reason, &status)) return;
  struct qzi_outside *outside = qzi_watch(&run->options->recording, run->child, whose, &run->unwatched);
  run->watched.recording.outside = outside;
  if (!outside) return;
  make_room(run);
  run->unwatched = file_name_too_long;
  if (name_for(run, path, sizeof path, run->program, run->child)) return;
  int session = dup(qzi_outside_fd(outside));
  struct qzi_target *target =
    qzi_admit(run->child, -1, session, qzi_clock_page_for(run->child, &run->watched.recording), 0, path, &run->may,
              run->options->message_fd, &run->watched.recording);
  if (session >= 0) close(session);
  run->unwatched = NULL;
  run->hellos++; /* it is recorded, or the user has been informed why not */
  qzi_exec_of.happened = 0;
  if (!target) return;
  snprintf(target->program, sizeof target->program, "%s", run->program);
  target->numbered = is_numbered(run, path, run->program, run->child);
  qzi_targets[qzi_target_count++] = target;
  qzi_recording_command(&target->recording, qzi_command_before_ns(run->begin_ns));
  qzi_rotation_begin(&run->watched, run->base);
}

/* The child has executed such a program. */
static void watch_next(struct launched *run) {
  if (!qzi_exec_of.happened || run->unwatched || run->over || run->no_proc || !qzi_watched_because(qzi_exec_of.kind))
    return;
  char program[300];
  qzi_name_of_program(program, sizeof program, run->child);
  watch_child(run, program, qzi_exec_of.kind);
}

/* The screen for which the program was started is gone, so nobody is left to end it. The program is first asked to
 * end, then killed; if we lead a process group of our own, so are all processes that it started. */
static const int harder[] = {SIGINT, SIGTERM, SIGKILL};
#define HARDER_COUNT (sizeof harder / sizeof *harder)

static void press(struct launched *run) {
  kill(getpgrp() == getpid() ? 0 : run->child, harder[run->pressed++]);
  run->press_ns = qzi_clock_ns() + PATIENCE_MS * 1000000ull;
}

/* Milliseconds until the next signal of `harder` is due; -1 if none is. */
static int press_due_ms(const struct launched *run) {
  if (!run->pressed || run->pressed == HARDER_COUNT) return -1;
  uint64_t now_ns = qzi_clock_ns();
  return now_ns < run->press_ns ? (int)((run->press_ns - now_ns) / 1000000) + 1 : 0;
}

/* The shorter of two timeouts in milliseconds; -1 is infinite. */
static int sooner(int one, int other) { return one < 0 || (other >= 0 && other < one) ? other : one; }

static int record(struct launched *run, int listener, int signals) {
  static struct pollfd polls[3 + QZI_NEWCOMERS_MAX + 3 * QZI_TARGETS_MAX];
  int follows = run->options->recording.children == QZI_CHILDREN_FOLLOW;
  for (;;) {
    polls[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    polls[2] = (struct pollfd){.fd = run->pressed ? -1 : run->options->front_fd};
    unsigned new = qzi_newcomers_poll(polls + 3);
    qzi_wait_and_attend(polls, 3 + new, sooner(press_due_ms(run), qzi_newcomers_due_ms()), run->child);
    qzi_newcomers_attend(polls + 3, new);
    if (polls[2].revents) {
      press(run);
      run->over = 1;
      qzi_interrupt_all();
    } else if (press_due_ms(run) == 0) {
      press(run);
    }
    if (polls[1].revents) admit_next(run, listener);
    admit_grown(run);
    if (follows) say_room();
    watch_next(run);
    qzi_follow_look();
    qzi_rotation_look(run->child);
    enum qzi_sender sender;
    for (int number; (number = qzi_signal_next(signals, &sender)) != 0;) {
      int ended = 0;
      int32_t status = 0;
      uint32_t reason = QZ_END_NONE;
      switch (number) {
      case SIGCONT: qzi_stood_still(); break;
      case SIGCHLD: ended = qzi_child_outcome(run->child, &reason, &status); break;
      default:
        if (run->pressed) break; /* our own signal, which we sent to the group: the program has received it */
        qzi_pass_on(run->child, &run->direct, number, sender);
        run->over = 1;
        qzi_interrupt_all();
      }
      if (!ended) continue;
      run->ended = 1;
      while (poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 0) > 0)
        admit_next(run, listener); /* processes its last message, which may be the reason why there is no profile */
      close(listener);             /* processes that begin now must not wait until profiles are finished */
      uint64_t end_ns = qzi_clock_ns(); /* taken before the profile is finished */
      qzi_tree_watch_stop(run->tree, end_ns);
      qzi_newcomers_forget();
      for (unsigned k = qzi_target_count; k-- > 0;)
        if (qzi_targets[k]->pid == run->child) qzi_dismiss(k, reason, status);
      int sandboxed = qz_sandbox_filters(run->child) > qz_sandbox_filters(0);
      /* not earlier: as long as the child is not reaped, the kernel reports its usage */
      qzi_account(run->options->account_fd, run->child, run->begin_ns, end_ns, qzi_tree_watch_used(run->tree));
      qzi_dismiss_children();
      qzi_finish_all();
      qzi_outside_close(run->watched.recording.outside);
      if (!run->over && (!run->hellos || qzi_exec_of.happened)) /* otherwise the user has been informed */
        qzi_explain_no_profile(&(struct qzi_no_profile){.program = run->options->program[0],
                                                        .kind = qzi_exec_of.happened ? qzi_exec_of.kind : run->kind,
                                                        .unwatched = run->unwatched,
                                                        .after_exec = qzi_exec_of.happened,
                                                        .layer = run->layer,
                                                        .no_proc = run->no_proc,
                                                        .sandboxed = sandboxed});
      /* the front end shows what is named last */
      return qzi_tree_watch_finish(run->tree, run->options, reason == QZ_END_SIGNAL ? 128 + status : status);
    }
  }
}

int qzi_record(const struct qzi_options *options) {
  sigset_t before;
  sigprocmask(SIG_BLOCK, NULL, &before);
  if (qzi_tasks_are_short()) return qzi_run_alone(options->program, &before);
  char name[QZI_NAME_BYTES], output[4096];
  const char *slash = strrchr(options->program[0], '/');
  struct launched run = {.options = options, .program = slash ? slash + 1 : options->program[0]};
  if (qzi_name_make(output, sizeof output, options->output, run.program, getpid(), getpid())) {
    fputs("quartz: the file name is too long; choose another --output\n", stderr);
    return QUARTZ_FAILED;
  }
  if (!qzi_name_writable(output)) return QUARTZ_FAILED;
  if (options->tree && !(run.tree = qzi_tree_watch_new(options->output, run.program))) return QUARTZ_FAILED;
  if (!qzi_name_wants_pid(options->output)) run.output = output;
  run.may = qzi_replaceable_now(run.output);
  int signals = qzi_signals_open(&before), listener = qzi_channel_listen(name);
  if (signals < 0 || listener < 0) {
    fprintf(stderr, "quartz: no profile: no socket can be created: %s; raise the limit of open files (ulimit -n)\n",
            strerror(errno));
    return qzi_run_alone(options->program, &before);
  }
  char layer[4096];
  run.kind = qz_program_named(options->program[0]);
  run.no_proc = !qzi_process_in_proc();
  /* a statically linked program may start others */
  run.layer = (run.kind == QZ_PROGRAM_PLAIN || run.kind == QZ_PROGRAM_STATIC) && !run.no_proc &&
              !qzi_layer_path(layer, sizeof layer);
  run.begin_ns = qzi_clock_ns();
  const struct qzi_prepared how = {
    .name = name, .children = options->recording.children, .layer = run.layer ? layer : NULL};
  run.child = qzi_tree_watch_launch(run.tree, options->program, &how, &before);
  if (run.child == QZI_NO_PROCESS) {
    fprintf(stderr, "quartz: no profile: no second process can be started: %s; raise the limits (ulimit -u, -v, -n)\n",
            strerror(errno));
    return qzi_run_alone(options->program, &before);
  }
  if (run.child < 0) return qzi_launch_failed(options->program[0], errno);
  qzi_exec_of.pid = run.child;
  if (options->recording.children == QZI_CHILDREN_FOLLOW) qzi_follow_begin(run.program, run.child);
  run.followed = options->recording;
  run.followed.followed = 1;
  if (!run.no_proc && qzi_watched_because(run.kind)) watch_child(&run, run.program, run.kind);
  if (run.layer) { /* while the program is being loaded, which otherwise would wait for it later */
    qzi_recording_host();
    qzi_running_cost_ns();
  }
  signal(SIGPIPE, SIG_IGN); /* the reader of our messages may be gone; the profile is finished nevertheless */
  return record(&run, listener, signals);
}
