/* Samples of running threads. See perf_samples.h. */
#include "perf_samples.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "affinity.h"
#include "perf_event.h"
#include "perf_sample_record.h"
#include "sampler/util/clock.h"
#include "signal_samples.h"

#define SAMPLES     8u                  /* in a thread's buffer, less one: more than are taken between two snapshots */
#define CPU_SAMPLES 16u                 /* in a CPU's buffer */
#define COUNTED     2u                  /* in a buffer for counted events */
#define RINGS_MOST  256u                /* maximum number of threads with their own event */
#define LOOK_NS     UINT64_C(100000000) /* samples of counted events are too many if so many are read in this time */
#define LONGER      4u                  /* how many times longer the period becomes then */
#define EVENTS_MOST 512u                /* maximum number of events of the initial threads on all CPUs */

/* A buffer, and the event that created it. */
struct ring {
  struct qzi_perf_buffer its; /* page NULL: the slot is free */
  uint32_t tid;               /* 0: the buffer is a CPU's */
  int cpu, fd;
  uint64_t lost; /* samples lost since the last one because the buffer was full */
  /* of a counted event: its period; samples before this position have the one before, the next one stands for nothing
   */
  uint64_t period, changed_at;
  int changed;
  uint32_t taken; /* samples that were read since: */
  uint64_t since_ns;
};

struct qzi_running {
  const struct qz_signal_ring *signals; /* not NULL: the program takes the samples; the rest is unused */
  uint64_t next;                        /* sample of it to be read next */
  const struct qzi_event *event;        /* NULL: a timer */
  uint64_t interval_ns;                 /* interval of the timer; otherwise number of events between samples */
  uint32_t pid;
  struct ring rings[RINGS_MOST];
  uint32_t count, at; /* number of rings in use; ring at which reading continues */
  int inherited;      /* 1: one event for each CPU, which threads inherit */
  int whole;          /* 1: the events are for everything that runs on the CPUs */
  int paused;
  uint32_t forked;
  struct qzi_sample_choice choice; /* of samples of a timer */
  struct ring *read;               /* where the sample is that was returned last, up to: */
  uint64_t read_to;
  uint32_t stack; /* bytes of it in a sample */
  int *events;    /* descriptors of further events, which write into the CPUs' buffers */
  uint32_t events_count;
};

/* ---- events ---- */

static int add_ring(struct qzi_running *running, uint32_t tid, int cpu, uint32_t samples) {
  uint32_t k = 0;
  uint64_t bytes = (uint64_t)running->stack * samples;
  while (k < running->count && running->rings[k].its.page) k++;
  if (k == RINGS_MOST) {
    errno = ENOSPC;
    return -1;
  }
  struct ring *ring = &running->rings[k];
  int fd = qzi_perf_event_open(tid, cpu, running->event, running->interval_ns, running->stack, running->paused, 1);
  if (fd < 0) return -1;
  void *page = mmap(NULL, QZI_PERF_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    int why = errno;
    close(fd);
    errno = why;
    return -1;
  }
  *ring =
    (struct ring){.its = {page, bytes}, .tid = cpu < 0 ? tid : 0, .cpu = cpu, .fd = fd, .period = running->interval_ns};
  if (k == running->count) running->count++;
  return 0;
}

static void drop_ring(struct ring *ring) {
  if (!ring->its.page) return;
  munmap(ring->its.page, QZI_PERF_PAGE + ring->its.bytes);
  close(ring->fd);
  *ring = (struct ring){0};
}

static void drop_rings(struct qzi_running *running) {
  for (uint32_t k = 0; k < running->count; k++) drop_ring(&running->rings[k]);
  running->count = 0;
}

/* Adds events for another existing thread, or further events for the CPUs; they write into the same buffers. */
static int add_thread(struct qzi_running *running, uint32_t tid) {
  for (uint32_t k = 0; k < running->count; k++) {
    int fd = -1, *events = NULL;
    errno = ENOSPC;
    if (running->events_count < EVENTS_MOST)
      events = realloc(running->events, (running->events_count + 1) * sizeof *events);
    if (events) running->events = events;
    if (events) /* only the first event of a CPU reports new processes */
      fd = qzi_perf_event_open(tid, running->rings[k].cpu, running->event, running->interval_ns, running->stack,
                               running->paused, tid != QZI_PERF_WHOLE);
    if (fd < 0) return errno == ESRCH ? 0 : -1;
    running->events[running->events_count++] = fd;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, running->rings[k].fd)) return -1;
  }
  return 0;
}

static uint32_t samples_of(const struct qzi_running *running, uint32_t whose, uint32_t samples) {
  return running->event && whose != QZI_PERF_WHOLE ? COUNTED : samples;
}

static int open_cpus(struct qzi_running *running, uint32_t whose, const cpu_set_t *cpus, size_t bytes) {
  for (int cpu = 0; cpu < QZI_CPUS_MOST; cpu++) {
    if (!CPU_ISSET_S(cpu, bytes, cpus)) continue;
    if (add_ring(running, whose, cpu, samples_of(running, whose, CPU_SAMPLES)) && errno != ENODEV)
      return -1; /* ENODEV: the CPU is offline */
  }
  return running->count ? 0 : -1;
}

/* Opens events for the threads that exist already. A thread created while the list is read may be missed. */
static int open_others(struct qzi_running *running, uint32_t pid) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%u/task", pid);
  DIR *tasks = opendir(name);
  int failed = 0;
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (tid && tid != pid && add_thread(running, tid)) failed = -1;
  }
  if (tasks) closedir(tasks);
  return failed;
}

static void drop_events(struct qzi_running *running) {
  for (uint32_t k = 0; k < running->events_count; k++) close(running->events[k]);
  free(running->events);
  running->events = NULL;
  running->events_count = 0;
}

/* Opens events for everything that runs, if that is allowed. Timers that run continuously can be synchronous with a
 * periodic program, and would then always find it at the same point. So each CPU has several timers, of which at most
 * one can be synchronous with anything for long; together they take as many samples as one timer with the given
 * interval. */
static int open_whole(struct qzi_running *running, const cpu_set_t *cpus, size_t bytes) {
  static const double periods[] = {2.617, 3.083, 3.391}; /* in intervals; no simple ratio to each other or to 1 */
  uint64_t interval_ns = running->interval_ns;
  double rate = running->event != NULL;
  int failed = running->event && open_cpus(running, QZI_PERF_WHOLE, cpus, bytes);
  for (unsigned k = 0; !running->event && k < sizeof periods / sizeof *periods && !failed; k++) {
    running->interval_ns = (uint64_t)(periods[k] * (double)interval_ns);
    failed = k ? add_thread(running, QZI_PERF_WHOLE) : open_cpus(running, QZI_PERF_WHOLE, cpus, bytes);
    rate += 1 / periods[k];
  }
  running->interval_ns = failed ? interval_ns : (uint64_t)((double)interval_ns / rate);
  running->whole = !failed;
  if (!failed) return 0;
  drop_events(running);
  drop_rings(running);
  return -1;
}

static struct qzi_running *open_running(uint32_t pid, uint32_t cpus_expected, const struct qzi_event *event,
                                        uint64_t interval, uint32_t cpus_most, int whole, uint32_t stack) {
  struct qzi_running *running = calloc(1, sizeof *running);
  cpu_set_t *cpus = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  int failed = !running || !cpus || qzi_affinity_of_threads(pid, cpus_expected, cpus, bytes);
  if (!failed) {
    running->event = event;
    running->interval_ns = interval;
    running->pid = pid;
    running->stack = stack;
    running->inherited = (uint32_t)CPU_COUNT_S(bytes, cpus) <= cpus_most;
    if (!running->inherited)
      failed = add_ring(running, pid, -1, samples_of(running, pid, SAMPLES));
    else if (!whole || open_whole(running, cpus, bytes))
      failed = open_cpus(running, pid, cpus, bytes);
    if (!failed && running->inherited && !running->whole) open_others(running, pid);
  }
  if (cpus) CPU_FREE(cpus);
  if (!failed) return running;
  int why = errno;
  qzi_running_close(running);
  errno = why;
  return NULL;
}

struct qzi_running *qzi_running_open(uint32_t pid, uint32_t cpus, uint64_t interval_ns, uint32_t cpus_most, int whole,
                                     uint32_t stack) {
  return open_running(pid, cpus, NULL, interval_ns, cpus_most, whole, stack);
}

struct qzi_running *qzi_running_count(uint32_t pid, uint32_t cpus, const struct qzi_event *event, uint32_t cpus_most,
                                      int whole) {
  return open_running(pid, cpus, event, event->period, cpus_most, whole, QZI_RUNNING_STACK);
}

struct qzi_running *qzi_running_by_signals(const struct qz_signal_ring *ring) {
  struct qzi_running *running = calloc(1, sizeof *running);
  if (!running) return NULL;
  running->signals = ring;
  running->interval_ns = ring->interval_ns;
  running->inherited = 1; /* every thread has samples */
  return running;
}

int qzi_running_allowed(uint32_t pid) {
  const uint64_t seldom_ns = UINT64_C(1000000000);
  int cpu = sysconf(_SC_NPROCESSORS_ONLN) <= QZI_RUNNING_CPUS ? sched_getcpu() : -1,
      fd = cpu < 0 ? -1 : qzi_perf_event_open(QZI_PERF_WHOLE, cpu, NULL, seldom_ns, QZI_RUNNING_STACK, 1, 0);
  if (fd < 0) fd = qzi_perf_event_open(pid, -1, NULL, seldom_ns, QZI_RUNNING_STACK, 1, 0);
  if (fd < 0) return -1;
  close(fd);
  return 0;
}

void qzi_running_close(struct qzi_running *running) {
  if (!running) return;
  drop_events(running);
  drop_rings(running);
  free(running);
}

uint64_t qzi_running_interval_ns(const struct qzi_running *running) { return running ? running->interval_ns : 0; }

int qzi_running_whole(const struct qzi_running *running) { return running && running->whole; }

static struct ring *ring_of(struct qzi_running *running, uint32_t tid) {
  for (uint32_t k = 0; k < running->count; k++)
    if (running->rings[k].its.page && running->rings[k].tid == tid) return &running->rings[k];
  return NULL;
}
int qzi_running_begin(struct qzi_running *running, uint32_t tid) {
  return running->inherited || ring_of(running, tid) ? 0
                                                     : add_ring(running, tid, -1, samples_of(running, tid, SAMPLES));
}
void qzi_running_end(struct qzi_running *running, uint32_t tid) {
  struct ring *ring = running->inherited ? NULL : ring_of(running, tid);
  if (ring) drop_ring(ring);
}

void qzi_running_pause(struct qzi_running *running, int pause) {
  unsigned long what = pause ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;
  if (running->paused == pause) return;
  running->paused = pause;
  for (uint32_t k = 0; k < running->count; k++)
    if (running->rings[k].its.page) ioctl(running->rings[k].fd, what, 0);
  for (uint32_t k = 0; k < running->events_count; k++) ioctl(running->events[k], what, 0);
}

/* ---- samples ---- */

/* Gets the number of events for which the sample of a counted event at this position stands. Where there are too many
 * samples, the period becomes longer; the kernel then takes a sample at once, which stands for nothing (0). */
static uint64_t period_of(const struct qzi_running *running, struct ring *ring, uint64_t at) {
  if (!running->whole || !running->event->most) return running->interval_ns;
  if (at < ring->changed_at) return ring->period / LONGER;
  uint64_t now_ns = qzi_clock_ns(), period = ring->period * LONGER;
  if (ring->changed || now_ns - ring->since_ns >= LOOK_NS) {
    ring->since_ns = now_ns;
    ring->taken = 0;
  }
  if (ring->changed) return ring->changed = 0;
  if (++ring->taken * UINT64_C(1000000000) > running->event->most * LOOK_NS &&
      !ioctl(ring->fd, PERF_EVENT_IOC_PERIOD, &period)) {
    ring->period = period;
    ring->changed_at = __atomic_load_n(&ring->its.page->data_head, __ATOMIC_ACQUIRE);
    ring->changed = 1;
    return period / LONGER;
  }
  return ring->period;
}

/* Whether the record reports a new process (not a thread) created by `pid`. The record contains pid, parent pid, tid
 * and parent tid. */
static int is_process_of(uint32_t pid, const struct ring *ring, uint64_t at) {
  uint32_t words[2];
  qzi_perf_copy(&ring->its, at, words, sizeof words);
  return words[0] != pid && words[1] == pid;
}

/* Number of lost samples. The record contains the event's id and the number. */
static uint64_t lost_samples(const struct ring *ring, uint64_t at) {
  uint64_t words[2];
  qzi_perf_copy(&ring->its, at, words, sizeof words);
  return words[1];
}

/* The kernel may use that part of the buffer again. (A thread's buffer may be closed while its sample is used, so that
 * those are released at once.) */
static void release(struct qzi_running *running) {
  if (running->read) __atomic_store_n(&running->read->its.page->data_tail, running->read_to, __ATOMIC_RELEASE);
  running->read = NULL;
}

int qzi_running_any(const struct qzi_running *running) {
  if (running->signals) return __atomic_load_n(&running->signals->count, __ATOMIC_RELAXED) > running->next;
  for (uint32_t k = 0; k < running->count; k++) {
    const struct perf_event_mmap_page *page = running->rings[k].its.page;
    if (page && __atomic_load_n(&page->data_head, __ATOMIC_RELAXED) != page->data_tail) return 1;
  }
  return 0;
}

int qzi_running_next(struct qzi_running *running, struct qzi_sample *sample) {
  release(running);
  sample->stands = qzi_sample_choice_stands(&running->choice);
  while (running->signals) {
    if (!qzi_signal_samples_next(running->signals, &running->next, sample)) return 0;
    if (qzi_sample_choice_takes(&running->choice)) return 1;
  }
  for (uint32_t tried = 0; tried < running->count; running->at++, tried++) {
    if (running->at >= running->count) running->at = 0;
    struct ring *ring = &running->rings[running->at];
    uint64_t head = ring->its.page ? __atomic_load_n(&ring->its.page->data_head, __ATOMIC_ACQUIRE) : 0,
             at = ring->its.page ? ring->its.page->data_tail : 0;
    int found = 0;
    while (at < head && !found) {
      struct perf_event_header record;
      qzi_perf_copy(&ring->its, at, &record, sizeof record);
      if (record.size < sizeof record) break;
      if (record.type == PERF_RECORD_LOST && !running->whole) ring->lost += lost_samples(ring, at + sizeof record);
      if (record.type == PERF_RECORD_FORK)
        running->forked += (uint32_t)is_process_of(running->pid, ring, at + sizeof record);
      uint64_t each = record.type == PERF_RECORD_SAMPLE && running->event ? period_of(running, ring, at) : 1;
      if (record.type == PERF_RECORD_SAMPLE && each)
        found = qzi_perf_sample(&ring->its, at + sizeof record, record.size - sizeof record, running->pid,
                                running->event ? NULL : &running->choice, !ring->tid, sample);
      sample->cpu = ring->cpu;
      sample->count = (1 + ring->lost) * each;
      if (found) ring->lost = 0;
      sample->user = (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
      at += record.size;
      running->read = ring;
      running->read_to = at;
      if (!found || ring->tid) release(running);
    }
    if (found) return 1;
  }
  return 0;
}

void qzi_running_thin(struct qzi_running *running, uint32_t one_of) { qzi_sample_choice_set(&running->choice, one_of); }

uint32_t qzi_running_left_out(struct qzi_running *running) {
  uint32_t left_out = running->choice.left_out;
  running->choice.left_out = 0;
  return left_out;
}

uint32_t qzi_running_forked(struct qzi_running *running) {
  uint32_t forked = running->forked;
  running->forked = 0;
  return forked;
}
