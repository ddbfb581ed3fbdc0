/* The thread that observes a tree. See observer.h. */
#include "observer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "ends.h"
#include "look.h"
#include "tree_parts.h"
#include "sampler/linux/affinity.h"
#include "sampler/linux/process.h"
#include "sampler/util/clock.h"

#define LATE_NS  20000000u /* ns: events of this age are complete and in order */
#define EACH_MS  10
#define LOOKS    16u /* new sleeping threads examined in a round; each takes some system calls */
#define VISITS   64u /* sleeping threads whose waits are counted in a round */
/* ns: minimum time until the next search for the other end of a pipe or socket, which is at least the time that the
 * thread has slept */
#define LOOK_NS  50000000u
#define TITLES   8u
#define TITLE_NS 50000000u   /* ns: processes that live for less keep the names of their kinds */
#define AGAIN_NS 1000000000u /* ns: age at which a process's title is read again */

struct qzi_observer {
  struct qzi_task_events *events;
  struct qzi_tree *tree;
  struct qzi_tree_ends *ends;
  pthread_t thread;
  int stop_fd;
  uint64_t end_ns, cpu_ns, random;
};

struct qzi_tree *qzi_observer_tree(struct qzi_observer *observer) {
  return observer->tree;
}
uint64_t qzi_observer_lost(const struct qzi_observer *observer) { return qzi_task_events_lost(observer->events); }
uint64_t qzi_observer_cpu_ns(const struct qzi_observer *observer) { return observer->cpu_ns; }

static void read_events(struct qzi_observer *observer, uint64_t until_ns) {
  struct qzi_task_event event;
  while (qzi_task_events_next(observer->events, until_ns, &event)) qzi_tree_take(observer->tree, &event);
}

static uint64_t next_random(struct qzi_observer *observer) {
  observer->random = observer->random * 6364136223846793005u + 1442695040888963407u;
  return observer->random >> 33;
}

/* Whether to find out what the thread waits for: it was not examined yet, or the other end was not found, perhaps
 * because that process had just begun. */
static int is_to_look(const struct qzi_tree_thread *thread, uint64_t now_ns) {
  switch (thread->wait) {
  case QZI_WAIT_UNKNOWN: return 1;
  case QZI_WAIT_PIPE_READ:
  case QZI_WAIT_PIPE_WRITE:
  case QZI_WAIT_SOCKET:
  case QZI_WAIT_EVENTS: return !thread->peer_count && now_ns >= thread->look_ns;
  default: return 0;
  }
}

static void look(struct qzi_observer *observer, struct qzi_tree_thread *thread, uint64_t now_ns) {
  uint64_t slept_ns = now_ns - thread->since_ns;
  qzi_tree_look(observer->tree, observer->ends, thread);
  thread->look_ns = now_ns + (slept_ns > LOOK_NS ? slept_ns : LOOK_NS);
}

/* Counts what sleeping threads wait for: on average each sleeps for `ns`. */
static void count_waits(struct qzi_observer *observer, uint64_t ns) {
  struct qzi_tree *tree = observer->tree;
  unsigned asleep = 0, looks = 0;
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) asleep += its->state == QZI_TREE_ASLEEP;
  unsigned step = asleep / VISITS + 1, at = (unsigned)(next_random(observer) % step);
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) {
    if (its->state != QZI_TREE_ASLEEP || at++ % step) continue;
    if (is_to_look(its, tree->now_ns) && looks++ < LOOKS) look(observer, its, tree->now_ns);
    qzi_tree_waited(tree, its, ns * step);
  }
}

static void name_processes(struct qzi_observer *observer) {
  struct qzi_tree *tree = observer->tree;
  unsigned left = TITLES;
  char name[64];
  for (struct qzi_tree_thread *its = tree->all; its && left; its = its->next_all) {
    struct qzi_tree_process *process = its->process;
    uint64_t age_ns = tree->now_ns - process->begin_ns;
    if (its->tid != process->pid || process->looked > 1 || age_ns < (process->looked ? AGAIN_NS : TITLE_NS)) continue;
    process->looked++;
    left--;
    if (qzi_tree_title(process, tree->kinds[process->kind].name, name, sizeof name))
      qzi_tree_rename(tree, process, name);
  }
}

static void *observe(void *argument) {
  struct qzi_observer *observer = argument;
  uint64_t last_ns = observer->tree->now_ns;
  /* If the user may set it, because buffers overflow while other programs occupy the CPUs. The thread uses at most some
   * per cent of one. */
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){.sched_priority = 1});
  for (;;) {
    struct pollfd stop = {.fd = observer->stop_fd, .events = POLLIN};
    if (poll(&stop, 1, EACH_MS / 2 + (int)(next_random(observer) % (EACH_MS + 1))) > 0) break;
    uint64_t until_ns = qzi_clock_ns() - LATE_NS;
    if (until_ns <= last_ns) continue;
    read_events(observer, until_ns);
    qzi_tree_advance(observer->tree, until_ns);
    count_waits(observer, until_ns - last_ns);
    name_processes(observer);
    last_ns = until_ns;
  }
  read_events(observer, observer->end_ns);
  qzi_tree_advance(observer->tree, observer->end_ns);
  qzi_tree_end(observer->tree);
  observer->cpu_ns = qzi_thread_cpu_ns();
  return NULL;
}

static const char *reason(int error) {
  switch (error) {
  case EACCES:
  case EPERM:
    return "the kernel does not permit scheduling events; set sysctl kernel.perf_event_paranoid=2, or let the "
           "container's system call filter allow perf_event_open";
  case ENOSYS: return "the kernel has no scheduling events (perf_event_open)";
  case EMFILE: return "too few files may be open; raise the limit (ulimit -n)";
  default: return "there is no memory for the buffers of scheduling events";
  }
}

struct qzi_observer *qzi_observer_begin(pid_t pid, const char *name, const char **why) {
  struct qzi_observer *observer = calloc(1, sizeof *observer);
  *why = reason(ENOMEM);
  if (!observer) return NULL;
  observer->stop_fd = eventfd(0, EFD_CLOEXEC);
  observer->ends = qzi_tree_ends_new();
  observer->random = qzi_clock_ns();
  observer->events = qzi_task_events_open(pid);
  if (!observer->events) *why = reason(errno);
  unsigned cpus = qzi_affinity_count(pid);
  observer->tree = qzi_tree_new((uint32_t)pid, name, cpus ? cpus : 1, qzi_clock_ns());
  if (observer->stop_fd >= 0 && observer->ends && observer->events && observer->tree &&
      !pthread_create(&observer->thread, NULL, observe, observer))
    return observer;
  qzi_observer_free(observer);
  return NULL;
}

void qzi_observer_end(struct qzi_observer *observer, uint64_t end_ns) {
  observer->end_ns = end_ns;
  if (eventfd_write(observer->stop_fd, 1) == 0) pthread_join(observer->thread, NULL);
}

void qzi_observer_free(struct qzi_observer *observer) {
  if (observer->stop_fd >= 0) close(observer->stop_fd);
  if (observer->events) qzi_task_events_close(observer->events);
  if (observer->tree) qzi_tree_free(observer->tree);
  qzi_tree_ends_free(observer->ends);
  free(observer);
}
