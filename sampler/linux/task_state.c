/* Reads /proc/PID/task/TID. See task_state.h. */
#include "task_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "schedstat.h"

#define OPEN_LEAST 256u  /* maximum number of files kept open if the limit can't be raised, */
#define OPEN_MOST  4096u /* and if it can: at most four for each thread, some KB of the kernel's memory */

static void shut(struct qzi_asker *asker, int *fd) {
  if (!*fd) return;
  close(*fd - 1);
  *fd = 0;
  asker->open--;
}

void qzi_task_state_close(struct qzi_asker *asker, struct qzi_task_state *task) {
  shut(asker, &task->state_fd);
  shut(asker, &task->schedstat_fd);
  shut(asker, &task->call_fd);
  shut(asker, &task->status_fd);
}

void qzi_asker_open(struct qzi_asker *asker, struct qz_profile *head) {
  struct rlimit files;
  *asker = (struct qzi_asker){.head = head, .open_most = OPEN_LEAST};
  if (getrlimit(RLIMIT_NOFILE, &files)) return;
  rlim_t wanted = 2 * OPEN_MOST; /* half of the limit remains for other files */
  if (files.rlim_cur < wanted) {
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &files)) return;
  }
  uint32_t half = files.rlim_cur < wanted ? (uint32_t)files.rlim_cur / 2 : OPEN_MOST;
  if (half > asker->open_most) asker->open_most = half;
}

void qzi_asker_close(struct qzi_asker *asker) {
  if (asker->tasks) close(asker->tasks - 1);
  if (asker->load > 0) close(asker->load - 1);
  asker->tasks = asker->load = 0;
}

/* Opens /proc/PID/task; -1 if it can't be opened. */
static int tasks_of(struct qzi_asker *asker) {
  char name[32];
  if (!asker->tasks) {
    snprintf(name, sizeof name, "/proc/%u/task", asker->head->pid);
    asker->tasks = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) + 1;
  }
  return asker->tasks - 1;
}
/* Opens a file of a thread relative to the directory, which the kernel finds faster than the whole path. */
static int open_file(struct qzi_asker *asker, uint32_t tid, const char *which) {
  char name[64];
  snprintf(name, sizeof name, "%u/%s", tid, which);
  return openat(tasks_of(asker), name, O_RDONLY | O_CLOEXEC);
}

/* Reads a file of a thread, which is kept open while the number of open files permits. Returns its length, followed by
 * a NUL; 0 if the thread has ended; -1 if the file can't be opened. */
static ssize_t read_file(struct qzi_asker *asker, int *kept, uint32_t tid, const char *which, char *text, size_t room) {
  int fd = *kept - 1;
  if (fd < 0) {
    fd = open_file(asker, tid, which);
    if (fd < 0) return -1;
    if (asker->open < asker->open_most) {
      *kept = fd + 1;
      asker->open++;
    }
  }
  ssize_t bytes = pread(fd, text, room - 1, 0);
  if (!*kept) close(fd);
  text[bytes > 0 ? bytes : 0] = 0;
  return bytes > 0 ? bytes : 0;
}

/* Reads the kernel's count of the thread's CPU time into state->count. Returns 1; 0 if it is unknown. */
static int count_of(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  char text[96], *at = text;
  task->counted = 0;
  if (read_file(asker, &task->schedstat_fd, tid, "schedstat", text, sizeof text) <= 0) return 0;
  task->count.run_ns = strtoull(at, &at, 10);
  task->count.wait_ns = strtoull(at, &at, 10);
  task->count.dispatches = strtoull(at, &at, 10);
  if (task->count.dispatches) task->counted = 1;
  return task->counted;
}

/* Makes the state that of the thread `tid`: closes the files of another thread that had the record before. */
static void settle(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  if (task->tid == tid) return;
  qzi_task_state_close(asker, task);
  task->tid = tid;
  task->seen = task->counted = 0;
  task->call.known = 0;
}

int qzi_ask_counted(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, uint64_t *run_ns) {
  settle(asker, task, tid);
  if (!task->counted && !count_of(asker, task, tid)) return 0;
  task->counted = 0;
  *run_ns = task->count.run_ns;
  return 1;
}

/* Finds the call in which a thread sleeps, or that it runs or has ended. Returns -1 without the right to trace it. */
static int call_of(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  struct qzi_asleep *its = &task->call;
  char text[256], *at;
  uint64_t words[8]; /* number of the call, six arguments, stack pointer, instruction; or -1, stack pointer,
                        instruction */
  if (asker->calls_denied) return -1;
  errno = 0;
  ssize_t bytes = read_file(asker, &task->call_fd, tid, "syscall", text, sizeof text);
  its->known = 0;
  if (bytes <= 0) {
    if (errno == ESRCH || errno == ENOENT || !errno) return task->seen ? QZI_GONE : -1;
    int refused = errno == EACCES || errno == EPERM;
    if (refused && asker->calls_read) return task->seen ? QZI_GONE : -1;
    asker->calls_denied = refused;
    if (asker->calls_denied) asker->head->paths |= QZ_PATHS_NO_CALLS;
    return -1;
  }
  task->seen = asker->calls_read = 1;
  if (!strncmp(text, "running", 7)) return QZI_AWAKE;
  its->call = strtol(text, &at, 10);
  unsigned count = its->call < 0 ? 2 : 8;
  for (unsigned k = 0; k < count; k++) words[k] = strtoull(at, &at, 16);
  its->first = its->call < 0 ? 0 : words[0];
  its->sp = words[count - 2];
  its->pc = words[count - 1];
  if (!its->sp && !its->pc) return QZI_GONE; /* an ending thread: its memory is released, only its tid is left */
  its->known = 1;
  return its->call == SYS_futex ? QZI_ON_FUTEX : QZI_ASLEEP;
}

/* Letter of the thread's state in `stat`; 'X': it has ended; 0: it can't be read. */
static char state_of(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  char text[128];
  ssize_t bytes = read_file(asker, &task->state_fd, tid, "stat", text, sizeof text);
  if (bytes < 0)
    return task->seen && errno == ENOENT ? 'X' : 0; /* /proc may hide the processes of other users; then no state was
                                                       ever seen */
  if (bytes == 0) {
    qzi_task_state_close(asker, task);
    return 'X';
  }
  task->seen = 1;
  const char *end = strrchr(text, ')');
  return end && end[1] ? end[2] : 'R';
}

static enum qzi_answer ask(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, int woken) {
  settle(asker, task, tid);
  uint64_t dispatches = count_of(asker, task, tid)
                          ? task->count.dispatches
                          : 0; /* if the thread has not got a CPU since the last time, its call is the same */
  int same = dispatches && task->call.known && dispatches == task->call.dispatches;
  task->call.rested = same;
  task->unrun = 0;
  if (dispatches) asker->counts = 1;
  if (same && woken && state_of(asker, task, tid) == 'R') {
    task->unrun = 1;
    return QZI_AWAKE;
  }
  if (same) return task->call.call == SYS_futex ? QZI_ON_FUTEX : QZI_ASLEEP;
  int answer = call_of(asker, task, tid);
  if (answer < 0) { /* without the call, at least the state */
    char state = state_of(asker, task, tid);
    if (!state) return QZI_AWAKE; /* only the thread's record is known */
    answer = state == 'Z' || state == 'X' ? QZI_GONE : state == 'R' ? QZI_AWAKE : QZI_ASLEEP;
  }
  task->call.dispatches = dispatches;
  task->unrun = answer == QZI_AWAKE && !dispatches && asker->counts;
  return (enum qzi_answer)answer;
}

void qzi_ask(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid, int woken) {
  task->answer = (uint8_t)ask(asker, task, tid, woken);
}

int qzi_ask_runnable(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  settle(asker, task, tid);
  return state_of(asker, task, tid) == 'R';
}

/* The number after `name` in `text`; -1: there is none. */
static long long number_after(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

int qzi_ask_on_cpu(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  char text[4096];
  settle(asker, task, tid);
  if (!count_of(asker, task, tid)) return -1;
  task->counted = 0; /* not for the thread's account, which is read by itself */
  uint64_t given = task->count.dispatches;
  if (read_file(asker, &task->status_fd, tid, "status", text, sizeof text) <= 0) return -1;
  long long slept = number_after(text, "\nvoluntary_ctxt_switches:"),
            lost = number_after(text, "\nnonvoluntary_ctxt_switches:");
  uint64_t left = (uint64_t)(slept + lost);
  return slept < 0 || lost < 0 || (given != left && given != left + 1) ? -1 : given == left + 1;
}

/* The 39th field of `stat`. The second one, in parentheses, may contain anything. */
int qzi_ask_last_cpu(struct qzi_asker *asker, struct qzi_task_state *task, uint32_t tid) {
  char text[1024];
  settle(asker, task, tid);
  if (read_file(asker, &task->state_fd, tid, "stat", text, sizeof text) <= 0) return -1;
  const char *at = strrchr(text, ')');
  for (unsigned field = 2; at && field < 39; field++) at = strchr(at + 1, ' ');
  return at ? atoi(at) : -1;
}

uint32_t qzi_ask_machine(struct qzi_asker *asker) {
  char text[96];
  struct statfs where;
  unsigned long runnable = 0;
  if (!asker->load) {
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    asker->load = fd >= 0 && !fstatfs(fd, &where) && where.f_type == PROC_SUPER_MAGIC
                    ? fd + 1
                    : -1; /* containers may replace the file */
    if (fd >= 0 && asker->load < 0) close(fd);
  }
  if (asker->load < 0) return UINT32_MAX;
  ssize_t bytes = pread(asker->load - 1, text, sizeof text - 1, 0);
  text[bytes > 0 ? bytes : 0] = 0;
  const char *at = text; /* the fourth number, after three spaces */
  for (int k = 0; k < 3 && at; k++) at = (at = strchr(at, ' ')) ? at + 1 : NULL;
  if (at) runnable = strtoul(at, NULL, 10);
  if (!runnable || runnable > UINT32_MAX) return UINT32_MAX;
  return (uint32_t)runnable;
}

uint64_t qzi_ask_run_ns(struct qzi_asker *asker, uint32_t tid) {
  struct qzi_cpu_count its;
  int tasks = tasks_of(asker);
  return tasks < 0 || qzi_cpu_time_of(tasks, tid, &its) ? 0 : its.run_ns;
}
