/* A recorded program from its beginning to its end. See target.h. */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/message.h"
#include "channel.h"
#include "no_profile.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/linux/process.h"
#include "sampler/profile/what_if.h"
#include "sampler/util/clock.h"
#include "sampler/util/numbers.h"

struct qzi_target *qzi_targets[QZI_TARGETS_MAX];
unsigned qzi_target_count;

#define MAP_NS       UINT64_C(1000000000) /* interval between readings of the memory map, */
#define MAP_COST     1600u                /* which may take at most 1 / 1600 of a CPU, */
#define MAP_SOON_NS  UINT64_C(100000000)  /* interval after an unknown address was seen, or a library was unloaded; */
#define MAP_EARLY    16u /* the number of such early readings: programs load their libraries when they start */
#define MAP_EARLY_NS UINT64_C(10000000)
#define USAGE_COST   1600u /* reading the usage may take this fraction of a CPU: 1 / 1600 */

#define BRIEF_NS     UINT64_C(1000000000) /* a shorter run shows little */

static const char *remedy(enum qzi_obstacle obstacle) {
  switch (obstacle) {
  case QZI_NO_DESCRIPTORS: return "; raise the limit (ulimit -n)";
  case QZI_NO_OUTPUT: return "; make room there, or choose another --output";
  case QZI_NO_MEMORY: return "; try again when more memory is free";
  case QZI_NO_THREAD: return "; raise the limit of processes (ulimit -u)";
  default: return "";
  }
}

/* Reports the profile's name to the front end, and to the user if it is not the intended one. */
static void announce_name(const struct qzi_target *target, const char *meant) {
  const char *name = target->recording.file.path;
  int moved = strcmp(name, meant) != 0;
  if (moved && !target->recording.request->followed)
    fprintf(stderr, "quartz: %s belongs to another recording: this one is in %s\n", meant, name);
  if (target->message_fd >= 0) dprintf(target->message_fd, "%s\n", name);
}

/* The file that the process executes, by device and number. */
static void file_of(pid_t pid, uint64_t runs[2]) {
  char name[64];
  struct stat file;
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  int known = !stat(name, &file);
  runs[0] = known ? (uint64_t)file.st_dev : 0;
  runs[1] = known ? (uint64_t)file.st_ino : 0;
}

struct qzi_clock_page qzi_clock_page_for(pid_t pid, const struct qzi_recording_request *request) {
  struct qz_what_if questions[QZ_WHAT_IFS];
  uint64_t samples = !request->no_signals && qzi_running_allowed((uint32_t)pid) ? QZ_WANTS_SAMPLES : 0;
  if (!request->span) return qzi_clock_page_make(samples, NULL);
  memcpy(questions, request->what_if, sizeof questions);
  qzi_what_if_resolve(questions, pid);
  return qzi_clock_page_make(QZ_WANTS_SPAN | samples, questions);
}

struct qzi_target *qzi_admit(pid_t pid, int socket, int session, struct qzi_clock_page clock, uint32_t answer,
                             const char *path, const struct qzi_replaceable *may, int message_fd,
                             const struct qzi_recording_request *request) {
  char why[600] = "there is not enough memory";
  enum qzi_obstacle obstacle = QZI_NO_MEMORY;
  struct qzi_target *target = calloc(1, sizeof *target);
  int opened = 0, passed = 0; /* takes over the clock page */
  if (!target) goto failed;
  target->pid = pid;
  target->socket = socket;
  target->pidfd = qzi_pidfd_open(pid);
  if (target->pidfd < 0) {
    obstacle = errno == EMFILE || errno == ENFILE ? QZI_NO_DESCRIPTORS : QZI_OTHER_OBSTACLE;
    snprintf(why, sizeof why, "process %ld cannot be watched: %s", (long)pid, strerror(errno));
    goto failed;
  }
  passed = 1;
  obstacle = qzi_recording_open(&target->recording, session, clock, pid, path, may, request, why, sizeof why);
  if (obstacle) goto failed;
  opened = 1;
  if (request->outside) file_of(pid, target->runs);
  target->message_fd = message_fd;
  target->map_ns = qzi_clock_ns();
  target->map_due_ns = target->map_ns + MAP_NS;
  if (!qzi_recording_start(&target->recording)) {
    qzi_cpu_time_tend(&target->recording.cpu_time, &target->recording.view, pid); /* before the program continues */
    if (answer) {
      target->recording.went_on_ns = qzi_clock_ns();
      qzi_sampler_rebase(&target->recording.sampler, target->recording.went_on_ns); /* the recording begins here */
      qz_message_send(socket, answer, NULL, clock.fd);
      qzi_recording_went_on(&target->recording, target->recording.went_on_ns);
    }
    qzi_recording_begin(&target->recording);
    qzi_file_free_old(&target->recording.file);
    announce_name(target, path);
    return target;
  }
  obstacle = QZI_NO_THREAD;
  snprintf(why, sizeof why, "no sampling thread can be started");
failed:
  qz_message_send(socket, QZ_REFUSED, NULL, -1); /* the user is informed here */
  if (!request->followed)
    fprintf(stderr, "quartz: process %ld is not recorded: %s%s\n", (long)pid, why, remedy(obstacle));
  close(socket);
  if (opened) {
    unlink(target->recording.file.path);
    qzi_recording_close(&target->recording);
  }
  if (!passed) qzi_clock_page_close(&clock);
  if (target && target->pidfd > 0) close(target->pidfd);
  free(target);
  return NULL;
}

void qzi_summarize(const struct qzi_target *target) {
  const struct qz_profile *head = target->recording.file.head;
  const struct qzi_pacing *pacing = &target->recording.pacing;
  if (target->recording.request->quiet || target->recording.failed) return;
  int slower = pacing->interval_ns > UINT64_C(1000000000000) / head->rate_mhz;
  if (head->snapshots == 0) {
    fprintf(stderr, "quartz: %s contains no snapshot: the program ended too soon; let it run longer, or raise --rate\n",
            target->recording.file.path);
    return;
  }
  char snapshots[QZI_NUMBER], elapsed[QZI_NUMBER];
  qzi_things_text(snapshots, head->snapshots, "snapshot");
  qzi_time_text(elapsed, head->elapsed_ns);
  if (target->message_fd >= 0) { /* for a front end, whose report has the rest */
    fprintf(stderr, "quartz: %s: %s in %s\n", target->recording.file.path, snapshots, elapsed);
    return;
  }
  char rate[QZI_NUMBER + 16] = "", late[QZI_NUMBER + 16] = "", asked[QZI_NUMBER], second[QZI_NUMBER],
                         skipped[QZI_NUMBER], cpu[QZI_NUMBER];
  if (slower) /* the report says why */
    snprintf(rate, sizeof rate, " of %s", qzi_count_text(asked, (head->rate_mhz + 500) / 1000));
  if (head->skipped_ticks > 0)
    snprintf(late, sizeof late, ", %s skipped", qzi_things_text(skipped, head->skipped_ticks, "interval"));
  fprintf(stderr, "quartz: %s: %s in %s, %s%s a second%s, %s of a CPU%s\n", target->recording.file.path, snapshots,
          elapsed, qzi_count_text(second, (uint64_t)((double)head->snapshots / ((double)head->elapsed_ns / 1e9) + 0.5)),
          rate, late, qzi_percent_text(cpu, head->sampler_cpu_ns, head->elapsed_ns),
          head->sampler_spins ? " of its own" : "");
  if (target->recording.request->attached && isatty(STDERR_FILENO))
    fprintf(stderr, "quartz: what limits it: quartz report %s\n", target->recording.file.path);
}

int qzi_target_brief(const struct qzi_target *target) {
  const struct qzi_file *file = &target->recording.file;
  return __atomic_load_n(&file->head->snapshots, __ATOMIC_ACQUIRE) == 0 ||
         (file->head->publisher == QZ_PUBLISHER_PTHREAD && !(file->head->paths & QZ_PATHS_HOOKS) &&
          file->head->elapsed_ns < BRIEF_NS && qzi_file_count(file, QZ_SECTION_THREADS) <= 1);
}

static void stop_sampling(struct qzi_recording *recording) {
  if (!qzi_recording_stop(recording)) return;
  /* its memory and file remain in use, so nothing can be finished */
  fprintf(stderr, "quartz: the sampler hangs: recording ended; %s is complete up to the last snapshot\n",
          recording->file.path);
  _exit(QUARTZ_FAILED);
}

void qzi_stop(struct qzi_target *target, uint32_t end_reason) {
  struct qzi_recording *recording = &target->recording;
  qzi_recording_ends(recording);
  if (target->socket >= 0) {
    qz_message_send(target->socket, QZ_DETACH, NULL, -1);
    close(target->socket);
    target->socket = -1;
  }
  if ((end_reason == QZ_END_INTERRUPTED || end_reason == QZ_END_TIME) && !recording->request->outside)
    qzi_process_usage_await(&recording->view);
  stop_sampling(recording);
}

void qzi_pause(struct qzi_target *target) {
  stop_sampling(&target->recording);
  qzi_recording_settle(&target->recording);
}

static void let_go(struct qzi_target *target) {
  qzi_recording_close(&target->recording);
  close(target->pidfd);
  free(target);
}

void qzi_finish(struct qzi_target *target, uint32_t end_reason, int32_t exit_status) {
  struct qzi_recording *recording = &target->recording;
  char *meant = strdup(recording->file.path);
  int unfinished = qzi_recording_finish(recording, end_reason, exit_status), error = errno;
  const char *name = recording->file.path;
  if (meant && strcmp(name, meant) != 0) announce_name(target, meant);
  if (unfinished && recording->failed != QZ_END_DISK_FULL)
    fprintf(stderr, "quartz: %s could not be finished: %s; it is usable, but has no checksums\n", name,
            strerror(error));
  char elapsed[QZI_NUMBER];
  qzi_time_text(elapsed, recording->file.head->elapsed_ns);
  if (recording->failed == QZ_END_DISK_FULL)
    fprintf(stderr, "quartz: the disk is full: recording ended after %s; %s is complete up to there%s\n", elapsed, name,
            unfinished ? ", but has no checksums" : "");
  else if (recording->failed)
    fprintf(stderr, "quartz: the profile is full: recording ended after %s; give a larger --max-size\n", elapsed);
  free(meant);
  let_go(target);
}

void qzi_discard(struct qzi_target *target) {
  unlink(target->recording.file.path);
  let_go(target);
}

void qzi_target_poll(const struct qzi_target *target, struct pollfd polls[3]) {
  polls[0] = (struct pollfd){.fd = target->pidfd, .events = POLLIN};
  polls[1] = (struct pollfd){.fd = target->socket, .events = POLLIN};
  polls[2] = (struct pollfd){.fd = target->recording.wake_fd, .events = POLLIN};
}

int qzi_target_attend(struct qzi_target *target, const struct pollfd polls[3], int is_child,
                      struct qzi_outcome *outcome) {
  struct qzi_recording *recording = &target->recording;
  if (polls[2].revents) {
    uint64_t count;
    if (read(recording->wake_fd, &count, sizeof count) < 0) count = 0;
    if (recording->failed) {
      *outcome = (struct qzi_outcome){(uint32_t)recording->failed, 0};
      return 1;
    }
    uint64_t soon_ns = target->map_ns + (target->map_early < MAP_EARLY ? MAP_EARLY_NS : MAP_SOON_NS);
    if (recording->want_modules && target->map_due_ns > soon_ns) {
      target->map_due_ns = soon_ns;
      target->map_early++;
    }
    recording->want_modules = 0;
  }
  if (target->left && !polls[0].revents) {
    *outcome = (struct qzi_outcome){QZ_END_EXEC, 0};
    return 1;
  }
  if (polls[0].revents) {
    qzi_recording_ends(recording); /* the session's current contents are its last */
    if (is_child) return 0;
    outcome->reason = qzi_process_outcome(target->pid, target->pidfd, &outcome->status);
    return 1;
  }
  if (polls[1].revents) {
    struct qz_message message;
    int fd;
    if (!(polls[1].revents & (POLLHUP | POLLERR)) && !qzi_channel_receive(target->socket, 0, &message, &fd)) {
      if (fd >= 0 && message.type == QZ_MESSAGES && recording->messages_fd < 0)
        recording->messages_fd = fd; /* read when the recording ends */
      else if (fd >= 0 && message.type == QZ_SAMPLES)
        qzi_recording_samples(recording, fd);
      else if (fd >= 0)
        close(fd);
      return 0;
    }
    close(target->socket);
    target->socket = -1;
    if (qzi_process_left(target->pid, recording->view.fd)) {
      *outcome = (struct qzi_outcome){QZ_END_EXEC, 0};
      return 1;
    }
  }
  return 0;
}

/* Exec is not reported by a program that publishes nothing; it shows only in the file that the process executes. */
static void look_for_exec(struct qzi_target *target) {
  uint64_t runs[2], one = 1;
  file_of(target->pid, runs);
  if (!runs[1] || (runs[0] == target->runs[0] && runs[1] == target->runs[1])) return;
  target->left = 1;
  qzi_recording_cut(&target->recording);
  if (write(target->recording.wake_fd, &one, sizeof one) < 0) return; /* EAGAIN: a wake-up is pending already */
}

int qzi_target_tend(struct qzi_target *target) {
  struct qzi_recording *recording = &target->recording;
  uint64_t due_ns = recording->cpu_time.due_ns;
  int cpu_ms = qzi_cpu_time_tend(&recording->cpu_time, &recording->view, target->pid);
  if (recording->cpu_time.due_ns != due_ns) {
    uint64_t begin_ns = qzi_thread_cpu_ns();
    qzi_process_usage_read(&recording->usage, target->pid);
    uint64_t next_ns = qzi_clock_ns() + (qzi_thread_cpu_ns() - begin_ns) * USAGE_COST;
    if (recording->cpu_time.due_ns < next_ns) recording->cpu_time.due_ns = next_ns; /* with thousands of threads */
  }
  qzi_recording_measure(recording);
  qzi_open_sockets_tend(&recording->sockets, target->pid, qzi_clock_ns());
  if (target->runs[1] && !target->left) look_for_exec(target);
  uint64_t now_ns = qzi_clock_ns();
  if (now_ns >= target->map_due_ns) {
    uint64_t begin_ns = qzi_thread_cpu_ns();
    struct qzi_modules *modules = qzi_modules_read(target->pid), *old;
    if (modules) {
      old = __atomic_exchange_n((struct qzi_modules **)&target->recording.mailbox, modules, __ATOMIC_ACQ_REL);
      qzi_modules_free(old);
    }
    target->map_ns = qzi_clock_ns();
    uint64_t least_ns = (qzi_thread_cpu_ns() - begin_ns) * MAP_COST;
    target->map_due_ns = target->map_ns + (least_ns > MAP_NS ? least_ns : MAP_NS);
    now_ns = target->map_ns;
  }
  int map_ms = (int)((target->map_due_ns - now_ns) / 1000000) + 1;
  return map_ms < cpu_ms ? map_ms : cpu_ms;
}
