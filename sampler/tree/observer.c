/* The thread that observes a tree. See observer.h. */
#include "observer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
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

#define ROUNDS   16u /* maximum number of rounds whose time the tree has not come to */

/* What was found of some threads at one time. */
struct round {
  uint64_t at_ns;
  unsigned count;
  struct qzi_tree_thread found[LOOKS]; /* copies; only tid, wait and peers are used */
};

struct qzi_observer {
  struct qzi_task_events *events;
  struct qzi_tree *tree;
  struct qzi_tree_ends *ends;
  pthread_t thread;
  int stop_fd;
  uint64_t end_ns, cpu_ns, random;
  uint64_t counted_ns; /* time up to which waits are counted */
  struct round round[ROUNDS];
  unsigned first_round, rounds; /* a ring */
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
 * because that process had just begun. What is known of it is LATE_NS old: one that has just slept may sleep again. */
static int is_to_look(const struct qzi_tree_thread *thread, uint64_t now_ns) {
  if (thread->state != QZI_TREE_ASLEEP) return thread->slept_ns && now_ns - thread->slept_ns < QZI_TREE_SHORT_NS;
  switch (thread->wait) {
  case QZI_WAIT_UNKNOWN: return 1;
  case QZI_WAIT_PIPE_READ:
  case QZI_WAIT_PIPE_WRITE:
  case QZI_WAIT_SOCKET:
  case QZI_WAIT_EVENTS: return !thread->peer_count && now_ns >= thread->look_ns;
  default: return 0;
  }
}

/* Examines some of the threads now; which of them sleep now is known only later. */
static void look_around(struct qzi_observer *observer, uint64_t now_ns) {
  struct qzi_tree *tree = observer->tree;
  if (observer->rounds == ROUNDS) return;
  struct round *round = &observer->round[(observer->first_round + observer->rounds++) % ROUNDS];
  round->at_ns = now_ns;
  round->count = 0;
  for (const struct qzi_tree_thread *its = tree->all; its && round->count < LOOKS; its = its->next_all)
    if (is_to_look(its, tree->now_ns)) {
      struct qzi_tree_thread *found = &round->found[round->count++];
      *found = *its;
      found->wait = QZI_WAIT_UNKNOWN;
      qzi_tree_look(tree, observer->ends, found);
    }
}

/* The tree has come to the time of the round: notes what was found, if the thread slept, and counts what sleeping
 * threads wait for: on average each sleeps for the time since the round before. */
static void count_waits(struct qzi_observer *observer, const struct round *round) {
  struct qzi_tree *tree = observer->tree;
  for (unsigned k = 0; k < round->count; k++) {
    const struct qzi_tree_thread *found = &round->found[k];
    struct qzi_tree_thread *its = qzi_tree_thread_of(tree, found->tid);
    if (found->wait == QZI_WAIT_UNKNOWN || !its || its->state != QZI_TREE_ASLEEP) continue;
    uint64_t slept_ns = tree->now_ns - its->since_ns;
    its->wait = found->wait;
    its->peer_count = found->peer_count;
    memcpy(its->peers, found->peers, sizeof its->peers);
    its->look_ns = tree->now_ns + (slept_ns > LOOK_NS ? slept_ns : LOOK_NS);
  }
  unsigned asleep = 0;
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) asleep += its->state == QZI_TREE_ASLEEP;
  unsigned step = asleep / VISITS + 1, at = (unsigned)(next_random(observer) % step);
  uint64_t ns = round->at_ns - observer->counted_ns;
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all)
    if (its->state == QZI_TREE_ASLEEP && at++ % step == 0) qzi_tree_waited(tree, its, ns * step);
  observer->counted_ns = round->at_ns;
}

/* Brings the tree to that time. */
static void go_on(struct qzi_observer *observer, uint64_t until_ns) {
  for (; observer->rounds && observer->round[observer->first_round].at_ns <= until_ns; observer->rounds--) {
    const struct round *round = &observer->round[observer->first_round];
    read_events(observer, round->at_ns);
    qzi_tree_advance(observer->tree, round->at_ns);
    count_waits(observer, round);
    observer->first_round = (observer->first_round + 1) % ROUNDS;
  }
  read_events(observer, until_ns);
  qzi_tree_advance(observer->tree, until_ns);
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
  observer->counted_ns = observer->tree->now_ns;
  /* If the user may set it, because buffers overflow while other programs occupy the CPUs. The thread uses at most some
   * per cent of one. */
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){.sched_priority = 1});
  for (;;) {
    struct pollfd stop = {.fd = observer->stop_fd, .events = POLLIN};
    if (poll(&stop, 1, EACH_MS / 2 + (int)(next_random(observer) % (EACH_MS + 1))) > 0) break;
    uint64_t now_ns = qzi_clock_ns();
    look_around(observer, now_ns);
    if (now_ns - LATE_NS <= observer->counted_ns) continue;
    go_on(observer, now_ns - LATE_NS);
    name_processes(observer);
  }
  go_on(observer, observer->end_ns);
  qzi_tree_end(observer->tree);
  qzi_tree_share_unknown(observer->tree);
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
