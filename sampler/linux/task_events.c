/* Events of a tree of processes. See task_events.h. */
#include "task_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "affinity.h"
#include "perf_buffer.h"

/* of a buffer: with its head page, as much as a user may lock for each CPU (perf_event_mlock_kb) */
#define PAGES       128u
#define PAGES_LEAST 8u
#define RECORD_MOST 256u

struct ring {
  struct qzi_perf_buffer its; /* page NULL: none yet */
  int fd, ready;              /* ready: `next` contains an event */
  uint64_t tail;
  struct qzi_task_event next;
};

struct qzi_task_events {
  struct ring *rings;
  unsigned count;
  uint64_t lost;
  uint64_t ahead_ns; /* CLOCK_MONOTONIC in this time namespace minus the clock of the kernel's records */
};

/* The end of each record. */
struct identity {
  uint32_t pid, tid;
  uint64_t ns;
  uint32_t cpu, reserved;
};

static int open_event(pid_t pid, int cpu) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof attr,
                                 .config = PERF_COUNT_SW_DUMMY,
                                 .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
                                 .sample_id_all = 1,
                                 .inherit = 1,
                                 .task = 1,
                                 .comm = 1,
                                 .comm_exec = 1,
                                 .context_switch = 1,
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1,
                                 .use_clockid = 1,
                                 .clockid = CLOCK_MONOTONIC};
  return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The offset of CLOCK_MONOTONIC in a time namespace, which the kernel's records do not have. Modulo 2^64. */
static uint64_t clock_offset(void) {
  FILE *file = fopen("/proc/self/timens_offsets", "re");
  long long s = 0, ns = 0;
  if (!file || fscanf(file, "monotonic %lld %lld", &s, &ns) != 2) s = ns = 0; /* the kernel has no time namespaces */
  if (file) fclose(file);
  return (uint64_t)s * UINT64_C(1000000000) + (uint64_t)ns;
}

/* Maps buffers of `pages` pages for the first `count` CPUs. Returns 0, or -1 with errno. */
static int map_all(struct qzi_task_events *events, unsigned pages) {
  uint64_t bytes = (uint64_t)pages * QZI_PERF_PAGE;
  for (unsigned k = 0; k < events->count; k++) {
    void *map = mmap(NULL, QZI_PERF_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, events->rings[k].fd, 0);
    if (map != MAP_FAILED) {
      events->rings[k].its = (struct qzi_perf_buffer){map, bytes};
      continue;
    }
    int error = errno;
    while (k-- > 0) munmap(events->rings[k].its.page, QZI_PERF_PAGE + bytes);
    for (unsigned each = 0; each < events->count; each++) events->rings[each].its.page = NULL;
    errno = error;
    return -1;
  }
  return 0;
}

struct qzi_task_events *qzi_task_events_open(pid_t pid) {
  long cpus = sysconf(_SC_NPROCESSORS_CONF);
  if (cpus < 1 || cpus > QZI_CPUS_MOST) cpus = QZI_CPUS_MOST;
  struct qzi_task_events *events = calloc(1, sizeof *events);
  if (!events || !(events->rings = calloc((size_t)cpus, sizeof *events->rings))) {
    free(events);
    errno = ENOMEM;
    return NULL;
  }
  events->ahead_ns = clock_offset();
  int error = ENODEV;
  for (int cpu = 0; cpu < cpus; cpu++) {
    int fd = open_event(pid, cpu);
    if (fd >= 0) {
      events->rings[events->count++].fd = fd;
    } else if (errno != ENODEV && errno != EINVAL) { /* the CPU is offline */
      error = errno;
      events->count = events->count ? events->count : 0;
      break;
    }
  }
  unsigned pages = PAGES;
  int mapped = -1;
  if (events->count)
    for (; pages >= PAGES_LEAST; pages /= 2) {
      mapped = map_all(events, pages);
      if (!mapped || (errno != EPERM && errno != ENOMEM)) break;
    }
  if (!mapped) return events;
  if (events->count) error = errno;
  qzi_task_events_close(events);
  errno = error;
  return NULL;
}

/* Converts a record to an event. Returns 0 if it is none of the wanted kinds. */
static int decode(struct qzi_task_events *events, const unsigned char *record, const struct perf_event_header *head,
                  struct qzi_task_event *event) {
  struct identity identity;
  const unsigned char *body = record + sizeof *head;
  if (head->size < sizeof *head + sizeof identity) return 0;
  memcpy(&identity, record + head->size - sizeof identity, sizeof identity);
  *event = (struct qzi_task_event){
    .ns = identity.ns + events->ahead_ns, .pid = identity.pid, .tid = identity.tid, .cpu = (int)identity.cpu};
  struct {
    uint32_t pid, ppid, tid, ptid;
  } task;
  switch (head->type) {
  case PERF_RECORD_LOST: {
    uint64_t lost;
    memcpy(&lost, body + sizeof lost, sizeof lost);
    events->lost += lost;
    return 0;
  }
  case PERF_RECORD_FORK:
  case PERF_RECORD_EXIT:
    memcpy(&task, body, sizeof task);
    event->kind = head->type == PERF_RECORD_FORK ? QZI_TASK_BEGINS : QZI_TASK_ENDS;
    event->pid = task.pid;
    event->tid = task.tid;
    event->ppid = task.ppid;
    event->ptid = task.ptid;
    return 1;
  case PERF_RECORD_COMM:
    if (!(head->misc & PERF_RECORD_MISC_COMM_EXEC)) return 0;
    event->kind = QZI_TASK_EXECUTES;
    memcpy(&event->pid, body, sizeof event->pid);
    memcpy(&event->tid, body + 4, sizeof event->tid);
    size_t room = head->size - sizeof *head - 8 - sizeof identity;
    memcpy(event->name, body + 8, room < sizeof event->name - 1 ? room : sizeof event->name - 1);
    return 1;
  case PERF_RECORD_SWITCH:
    event->kind = head->misc & PERF_RECORD_MISC_SWITCH_OUT ? QZI_TASK_STOPS : QZI_TASK_RUNS;
    event->preempted = (head->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    return 1;
  default: return 0;
  }
}

/* Reads the ring's next event. Returns 0 if there is none yet. */
static int peek(struct qzi_task_events *events, struct ring *ring) {
  while (!ring->ready) {
    uint64_t head = __atomic_load_n(&ring->its.page->data_head, __ATOMIC_ACQUIRE);
    if (ring->tail == head) return 0;
    struct perf_event_header its;
    unsigned char record[RECORD_MOST];
    qzi_perf_copy(&ring->its, ring->tail, &its, sizeof its);
    if (its.size < sizeof its) { /* damaged: the kernel writes no such record */
      ring->tail = head;
      events->lost++;
    } else {
      if (its.size <= sizeof record) {
        qzi_perf_copy(&ring->its, ring->tail, record, its.size);
        ring->ready = decode(events, record, &its, &ring->next);
      }
      ring->tail += its.size;
    }
    __atomic_store_n(&ring->its.page->data_tail, ring->tail, __ATOMIC_RELEASE);
  }
  return 1;
}

int qzi_task_events_next(struct qzi_task_events *events, uint64_t until_ns, struct qzi_task_event *event) {
  struct ring *first = NULL;
  for (unsigned k = 0; k < events->count; k++) {
    struct ring *ring = &events->rings[k];
    if (peek(events, ring) && ring->next.ns < until_ns && (!first || ring->next.ns < first->next.ns)) first = ring;
  }
  if (!first) return 0;
  *event = first->next;
  first->ready = 0;
  return 1;
}

uint64_t qzi_task_events_lost(const struct qzi_task_events *events) { return events->lost; }

void qzi_task_events_close(struct qzi_task_events *events) {
  for (unsigned k = 0; k < events->count; k++) {
    if (events->rings[k].its.page) munmap(events->rings[k].its.page, QZI_PERF_PAGE + events->rings[k].its.bytes);
    close(events->rings[k].fd);
  }
  free(events->rings);
  free(events);
}
