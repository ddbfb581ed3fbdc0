/* Begin and end of a recording. See recording.h. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cpu_placement.h"
#include "sampler/linux/signal_samples.h"
#include "sampler/linux/command_line.h"
#include "sampler/linux/process.h"
#include "sampler/linux/free_lock_cost.h"
#include "sampler/linux/futex_wait.h"
#include "sampler/linux/sleep_cost.h"
#include "sampler/outside/permission.h"
#include "sampler/profile/generated.h"
#include "sampler/profile/static_code.h"
#include "sampler/profile/file_name.h"
#include "sampler/profile/messages.h"
#include "sampler/profile/messages.h"
#include "sampler/profile/symbolize.h"
#include "sampler/util/clock.h"
#include "sampler/linux/affinity.h"

/* a sampling thread that uses this much CPU time after the request to end is in an infinite loop */
#define LOOPS_NS  UINT64_C(3000000000)
#define HANGS_NS  UINT64_C(30000000000) /* a sampling thread that has not ended after this time hangs */
#define LOOK_NS   100000000
/* if threads switch at least once per this much processor time, the cost of a switch is measured */
#define SWITCH_NS UINT64_C(100000)

/* ---- program and machine, for the head ---- */

const char *qzi_recording_host(void) {
  static char text[1024]; /* kept for all recordings: with many CPUs, the kernel takes long to write it */
  struct utsname machine;
  char line[256], model[200] = "";
  if (*text || uname(&machine)) return text;
  FILE *file = fopen("/proc/cpuinfo", "re");
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon) continue;
    snprintf(model, sizeof model, ", %s", colon + 2);
    model[strcspn(model, "\n")] = 0;
    break;
  }
  if (file) fclose(file);
  snprintf(text, sizeof text, "%s, %s %s %s%s", machine.nodename, machine.sysname, machine.release, machine.machine,
           model);
  return text;
}

static void describe(struct qzi_recording *recording) {
  struct qzi_interner *in = &recording->sampler.in;
  struct qz_profile *head = recording->file.head;
  char path[4096];
  head->program = qzi_process_program(recording->pid, path, sizeof path) ? 0 : qzi_intern_string(in, path);
  char arguments[QZI_COMMAND_LINE];
  head->arguments = qzi_intern_text(in, arguments, qzi_command_line(recording->pid, arguments));
  const char *host = qzi_recording_host();
  head->host = *host ? qzi_intern_string(in, host) : 0;
  head->version_text = qzi_intern_string(in, QUARTZ_VERSION);
  head->pid = (uint32_t)recording->pid;
  in->c_code = qzi_static_c_code(head->pid);
  qzi_generated_open(in, recording->pid);
  head->cpus = qzi_affinity_count((int)recording->pid);
  if (!head->cpus) head->cpus = qzi_affinity_count(0);
  unsigned pinned = qzi_place_pinned(&recording->view); /* a pinned processor's affinity mask hides the other CPUs */
  if (head->cpus < pinned) head->cpus = pinned;
  head->attached = (uint32_t)recording->request->attached;
  head->rank = qzi_name_rank(recording->pid);
  if (recording->request->outside && !qzi_outside_readable(recording->pid)) head->paths |= QZ_PATHS_NO_MEMORY;
  head->children_apart = recording->request->children == QZI_CHILDREN_ALL;
  recording->children_before_ns = qzi_process_children_ns(recording->pid);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  head->started_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- life ---- */

static enum qzi_obstacle obstacle_of(int error) {
  return error == EMFILE || error == ENFILE ? QZI_NO_DESCRIPTORS : error == ENOSPC ? QZI_NO_OUTPUT : QZI_NO_MEMORY;
}

enum qzi_obstacle qzi_recording_open(struct qzi_recording *recording, int fd, struct qzi_clock_page clock, pid_t pid,
                                     const char *path, const struct qzi_replaceable *may,
                                     const struct qzi_recording_request *request, char *why, size_t why_bytes) {
  memset(recording, 0, sizeof *recording);
  recording->request = request;
  recording->clock = clock;
  recording->pid = pid;
  pthread_mutex_init(&recording->cpu_time.lock, NULL);
  recording->file.fd = recording->file.old_fd = recording->view.fd = recording->wake_fd = -1;
  recording->messages_fd = recording->samples_fd = -1;
  const char *clause = NULL;
  if (qz_session_open(&recording->view, fd, &clause)) {
    int error = errno;
    snprintf(why, why_bytes, "%s", clause);
    qzi_clock_page_close(&recording->clock);
    return error == EMFILE || error == ENFILE ? QZI_NO_DESCRIPTORS : QZI_OTHER_OBSTACLE;
  }
  if (qzi_file_create(&recording->file, path, may, request->max_bytes, why, why_bytes)) {
    enum qzi_obstacle obstacle = errno == EINVAL                            ? QZI_OTHER_OBSTACLE
                                 : obstacle_of(errno) == QZI_NO_DESCRIPTORS ? QZI_NO_DESCRIPTORS
                                                                            : QZI_NO_OUTPUT;
    qz_session_close(&recording->view);
    qzi_clock_page_close(&recording->clock);
    return obstacle;
  }
  errno = 0;
  recording->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (recording->wake_fd < 0 ||
      qzi_sampler_open(&recording->sampler, &recording->view, &recording->file, qzi_clock_ns()) ||
      (request->timeline && qzi_slices_open(&recording->sampler.slices, &recording->file)) ||
      qzi_sampler_base(&recording->sampler, request->attached) ||
      qzi_path_open(&recording->sampler.path, clock.page, &recording->view, &recording->sampler.in)) {
    enum qzi_obstacle obstacle = recording->file.full ? QZI_NO_OUTPUT : obstacle_of(errno);
    snprintf(why, why_bytes,
             obstacle == QZI_NO_OUTPUT        ? "the disk is full"
             : obstacle == QZI_NO_DESCRIPTORS ? "too many files are open"
                                              : "there is not enough memory");
    unlink(recording->file.path);
    qzi_recording_close(recording);
    return obstacle;
  }
  recording->sampler.outside = request->outside;
  describe(recording);
  qzi_process_usage_begin(&recording->usage, &recording->view, pid);
  if (!qzi_file_room(&recording->file, QZ_SECTION_CPU_LIMITS, 1)) {
    recording->file.cpu_limits[0] = (struct qz_cpu_limits){0};
    qzi_cpu_limits_begin(&recording->limits, pid, recording->file.cpu_limits);
    qzi_file_append(&recording->file, QZ_SECTION_CPU_LIMITS, 1);
  }
  recording->mailbox = qzi_modules_read(pid); /* now, because the program may have ended when it is stored */
  return 0;
}

void qzi_recording_samples(struct qzi_recording *recording, int fd) {
  const struct qz_signal_ring *ring = recording->samples_fd < 0 ? qzi_signal_ring_map(fd) : NULL;
  if (!ring) {
    close(fd);
    return;
  }
  recording->samples_fd = fd;
  recording->sampler.signals = ring;
}

void qzi_recording_went_on(struct qzi_recording *recording, uint64_t at_ns) {
  uint64_t begun_ns = qz_session_head(&recording->view)->start_ns;
  if (begun_ns && begun_ns < at_ns && (at_ns - begun_ns) / 1000 <= UINT32_MAX)
    recording->file.head->start_us = (uint32_t)((at_ns - begun_ns) / 1000);
}

static void prepare(struct qzi_recording *recording) {
  struct qzi_modules *modules = recording->mailbox;
  recording->mailbox = NULL;
  qzi_file_touch(&recording->file);
  if (modules) qzi_modules_store(&recording->sampler.in, modules);
  qzi_modules_free(modules);
  recording->sampler.threading->prepare(&recording->sampler);
}

static _Atomic unsigned sampled; /* number of programs */
int qzi_recording_is_beside(const struct qzi_recording *recording) {
  return sampled > 1 && !recording->pacing.spins && !recording->request->rate_mhz;
}

int qzi_recording_start(struct qzi_recording *recording) {
  sem_init(&recording->ready, 0, 0);
  sem_init(&recording->prepared, 0, 0);
  if (pthread_create(&recording->thread, NULL, qzi_sampling_main, recording)) return -1;
  recording->started = 1;
  sampled++;
  while (sem_wait(&recording->ready)) {}
  return 0;
}

void qzi_recording_begin(struct qzi_recording *recording) {
  prepare(recording);
  sem_post(&recording->prepared);
}

/* Sets first and last time of threads that no snapshot visited. */
static void close_threads(struct qzi_file *file) {
  uint64_t count = qzi_file_count(file, QZ_SECTION_THREADS);
  for (uint64_t k = 0; k < count; k++)
    if (file->threads[k].first_ns == UINT64_MAX) file->threads[k].first_ns = file->threads[k].last_ns = 0;
}

void qzi_recording_keep_times(struct qzi_recording *recording) {
  struct qz_profile *head = recording->file.head;
  head->cpu_run_ns = recording->cpu_time.run_ns;
  head->cpu_wait_ns = recording->cpu_time.wait_ns;
  head->cpu_dispatches = recording->cpu_time.dispatches;
  uint64_t known = 0;
  head->usage = qzi_process_usage_since(&recording->usage, &known);
  head->usage_known = (uint16_t)known;
  head->sockets |= (uint16_t)recording->sockets.found; /* the other bits are set where threads sleep */
  if (qzi_file_count(&recording->file, QZ_SECTION_CPU_LIMITS)) {
    struct qz_cpu_limits *limits = recording->file.cpu_limits;
    qzi_cpu_limits_read(&recording->limits, limits);
    limits->realtime = recording->precedence.priority;
    limits->outranked = recording->precedence.outranked;
  }
  head->timer_dispatches = recording->timer_cost.count;
  head->timer_ns = recording->timer_cost.each_ns;
  if (!head->free_lock_ps) head->free_lock_ps = qzi_free_lock_ps();
}

/* Measured once for all recordings, because it takes some ms. */
static uint64_t sleep_ns(void) {
  static uint64_t known;
  if (!known) known = qzi_sleep_cost_ns();
  return known;
}

void qzi_recording_measure(struct qzi_recording *recording) {
  const struct qzi_cpu_time *time = &recording->cpu_time;
  qzi_timer_cost_note(&recording->timer_cost, time->dispatches, time->run_ns);
  if (!recording->sampler.sleep_ns && time->dispatches * SWITCH_NS > time->run_ns / 16)
    recording->sampler.sleep_ns = sleep_ns();
}

/* Waits for the end of the sampling thread. A snapshot takes some ms at most, but reading exact counts may take
 * longer, and so may waiting for a CPU. Returns -1 if the thread has used much processor time without ending, or
 * hangs. */
static int join_sampling(struct qzi_recording *recording) {
  clockid_t clock;
  struct timespec now, used;
  uint64_t end_ns = qzi_clock_ns() + HANGS_NS, most_ns = 0;
  int known = !pthread_getcpuclockid(recording->thread, &clock);
  for (;;) {
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += LOOK_NS;
    if (now.tv_nsec >= 1000000000) now.tv_sec++, now.tv_nsec -= 1000000000;
    if (!pthread_timedjoin_np(recording->thread, NULL, &now)) return 0;
    uint64_t used_ns =
      known && !clock_gettime(clock, &used) ? (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec : 0;
    if (!most_ns) most_ns = used_ns + LOOPS_NS;
    if (used_ns > most_ns || qzi_clock_ns() > end_ns) return -1;
  }
}

void qzi_recording_ends(struct qzi_recording *recording) {
  if (!recording->stop) recording->end_ns = qzi_clock_ns();
  qzi_recording_cut(recording);
}

void qzi_recording_cut(struct qzi_recording *recording) {
  recording->stop = 1;
  qzi_futex_wake(&recording->stop);
}

/* CPU time of the program's child processes since it began, as far as it has waited for them. Who has ended, and was
 * waited for by a parent of its own, can't be asked any more, but has written it. */
static uint64_t children_of(const struct qzi_recording *recording) {
  uint64_t ns = qzi_process_children_ns(recording->pid), written_ns = 0;
  const struct qz_session *head = qz_session_head(&recording->view);
  if (QZ_LOAD(&head->usage_end.ns)) written_ns = QZ_LOAD(&head->children_ns);
  return ns > written_ns ? ns : written_ns;
}

int qzi_recording_stop(struct qzi_recording *recording) {
  qzi_recording_ends(recording);
  qzi_cpu_time_read(&recording->cpu_time, &recording->view, recording->pid);
  uint64_t children_ns = children_of(recording);
  qzi_process_usage_end(&recording->usage, &recording->view, recording->pid,
                        children_ns > recording->children_before_ns);
  if (recording->started && join_sampling(recording)) return -1;
  sampled -= recording->started != 0;
  recording->started = 0;
  recording->timer_cost.taken = recording->sampler.timed_samples;
  qzi_timer_cost_note(&recording->timer_cost, recording->cpu_time.dispatches, recording->cpu_time.run_ns);
  qzi_recording_keep_times(recording);
  if (children_ns > recording->children_before_ns)
    recording->file.head->children_run_ns = children_ns - recording->children_before_ns;
  return 0;
}

static void read_last_counts(struct qzi_recording *recording) {
  recording->sampler.threading->settle(&recording->sampler);
  qzi_totals_read(&recording->sampler);
  qzi_calls_read(&recording->sampler);
  qzi_objects_read(&recording->sampler);
  qzi_overflows_read(&recording->sampler);
  qzi_path_finish(&recording->sampler.path);
}

void qzi_recording_settle(struct qzi_recording *recording) {
  read_last_counts(recording);
  recording->sampler.threading->close(&recording->sampler);
  recording->sampler.threading = NULL;
  recording->settled = 1;
}

void qzi_recording_command(struct qzi_recording *recording, uint64_t before_ns) {
  if (qzi_file_count(&recording->file, QZ_SECTION_CPU_LIMITS)) recording->file.cpu_limits->command_ns = before_ns;
}

/* Of the program that the command started: what it has taken since that program's end belongs to the command, too. */
static void end_command(struct qzi_recording *recording) {
  struct qz_cpu_limits *limits = recording->file.cpu_limits;
  uint64_t end_ns = recording->end_ns, now_ns = qzi_clock_ns();
  if (qzi_file_count(&recording->file, QZ_SECTION_CPU_LIMITS) && limits->command_ns && end_ns && end_ns < now_ns)
    limits->command_ns += now_ns - end_ns;
}

int qzi_recording_finish(struct qzi_recording *recording, uint32_t end_reason, int32_t exit_status) {
  if (recording->failed) end_reason = (uint32_t)recording->failed;
  if (!recording->settled) read_last_counts(recording);
  struct qzi_modules *modules = recording->mailbox;
  recording->mailbox = NULL;
  if (modules) qzi_modules_store(&recording->sampler.in, modules);
  qzi_modules_free(modules);
  close_threads(&recording->file);
  if (recording->messages_fd >= 0) qzi_messages_store(&recording->sampler.in, recording->messages_fd);
  qzi_symbolize(&recording->sampler.in);
  int complete = end_reason == QZ_END_EXIT || end_reason == QZ_END_SIGNAL;
  if (complete) end_command(recording);
  return qzi_file_finish(&recording->file, complete ? QZ_PROFILE_COMPLETE : QZ_PROFILE_CUT, end_reason, exit_status);
}

void qzi_recording_close(struct qzi_recording *recording) {
  const struct qz_signal_ring *ring = recording->sampler.signals;
  qzi_cpu_time_close(&recording->cpu_time);
  qzi_modules_free(recording->mailbox);
  qzi_sampler_close(&recording->sampler);
  qzi_clock_page_close(&recording->clock);
  qzi_file_close(&recording->file);
  qz_session_close(&recording->view);
  if (recording->wake_fd >= 0) close(recording->wake_fd);
  if (recording->messages_fd >= 0) close(recording->messages_fd);
  if (recording->samples_fd >= 0) close(recording->samples_fd);
  qzi_signal_ring_unmap(ring);
  memset(recording, 0, sizeof *recording);
  recording->wake_fd = recording->messages_fd = recording->samples_fd = -1;
}
