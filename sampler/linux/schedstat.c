/* Reads schedstat. See schedstat.h. */
#include "schedstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "sampler/util/clock.h"

#define SOON_NS            UINT64_C(5000000)   /* minimum interval between readings, so that a short run has some */
#define LATER_NS           UINT64_C(250000000) /* maximum interval between readings */
#define CLOCK_OF_SCHEDULER 2u                  /* CPUCLOCK_SCHED of the kernel, for a whole process */
#define COST               1600u               /* readings use at most 1/COST of a CPU */

struct qzi_cpu_seen {
  struct qzi_cpu_count its;
  uint32_t tid;
  unsigned char mark; /* mark of its record at the last reading */
  uint8_t slept;      /* 1: its record said at that time that the thread waits */
};

uint32_t qzi_kernel_threads(const struct qz_session_view *view) {
  return view->publisher == QZ_PUBLISHER_PTHREAD ? qz_session_thread_high(view) : QZ_LOAD(&view->processors);
}
uint32_t qzi_kernel_thread(const struct qz_session_view *view, uint32_t k) {
  if (view->publisher == QZ_PUBLISHER_PTHREAD) return QZ_LOAD(&qz_session_thread(view, k)->os_tid);
  const struct qz_processor *processor = qz_session_processor(view, k); /* NULL: there are fewer processors now */
  return processor ? QZ_LOAD(&processor->os_tid) : 0;
}

int qzi_cpu_time_of(int tasks, uint32_t tid, struct qzi_cpu_count *count) {
  char text[96];
  snprintf(text, sizeof text, "%u/schedstat", tid);
  int fd = openat(tasks, text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  if (bytes <= 0) return -1;
  text[bytes] = 0;
  unsigned long long run, wait, dispatches;
  if (sscanf(text, "%llu %llu %llu", &run, &wait, &dispatches) != 3) return -1;
  *count = (struct qzi_cpu_count){.run_ns = run, .wait_ns = wait, .dispatches = dispatches};
  return 0;
}

int qzi_cpu_time_of_process(pid_t pid, uint64_t *run_ns) {
  struct timespec used;
  /* the id that clock_getcpuclockid would return, without a system call */
  clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | CLOCK_OF_SCHEDULER);
  if (clock_gettime(clock, &used)) return -1;
  *run_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
  return 0;
}

static void read_all(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid) {
  uint32_t count = qzi_kernel_threads(view);
  const unsigned char *marks = qz_session_marks(view);
  char name[64];
  if (count > time->room) {
    uint32_t room = count + count / 2;
    struct qzi_cpu_seen *all = realloc(time->seen, room * sizeof *all);
    if (!all) return;
    memset(all + time->room, 0, (room - time->room) * sizeof *all);
    time->seen = all;
    time->room = room;
  }
  snprintf(name, sizeof name, "/proc/%ld/task", (long)pid);
  int tasks = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  if (!time->begun) qzi_cpu_time_of(tasks, (uint32_t)pid, &time->main);
  uint64_t run_sum = time->run_ns, wait_sum = time->wait_ns, dispatches = time->dispatches;
  for (uint32_t k = 0; k < count; k++) {
    struct qzi_cpu_seen *seen = &time->seen[k];
    uint32_t tid = qzi_kernel_thread(view, k);
    struct qzi_cpu_count its;
    if (!tid) continue;
    unsigned char mark = marks ? __atomic_load_n(&marks[qz_mark_at(k)], __ATOMIC_ACQUIRE) : 0;
    if (marks && seen->tid == tid && seen->slept && seen->mark == mark) continue; /* it is still asleep */
    uint8_t sleeps = marks && QZ_STATE_OF(QZ_LOAD(&qz_session_thread(view, k)->state)) == QZ_STATE_BLOCKED;
    if (qzi_cpu_time_of(tasks, tid, &its)) continue;
    if (seen->tid != tid) { /* a new thread: all its time counts, except that of the main thread, which is older than
                               the recording */
      *seen = (struct qzi_cpu_seen){.tid = tid};
      if (tid == (uint32_t)pid) seen->its = time->main;
    }
    if (time->begun && its.run_ns >= seen->its.run_ns && its.wait_ns >= seen->its.wait_ns &&
        its.dispatches >= seen->its.dispatches) {
      run_sum += its.run_ns - seen->its.run_ns;
      wait_sum += its.wait_ns - seen->its.wait_ns;
      dispatches += its.dispatches - seen->its.dispatches;
    }
    seen->its = its;
    seen->mark = mark;
    seen->slept = sleeps;
  }
  close(tasks);
  /* If the program's threads are kernel threads, the process's clock also includes threads that began and ended between
   * two readings. */
  uint64_t process_ns;
  if (view->publisher == QZ_PUBLISHER_PTHREAD && !qzi_cpu_time_of_process(pid, &process_ns)) {
    if (!time->begun)
      time->process_ns = process_ns;
    else if (time->process_ns && process_ns > time->process_ns)
      run_sum = process_ns - time->process_ns;
  }
  time->begun = 1;
  time->run_ns = run_sum;
  time->wait_ns = wait_sum;
  time->dispatches = dispatches;
}

void qzi_cpu_time_read(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid) {
  pthread_mutex_lock(&time->lock);
  read_all(time, view, pid);
  pthread_mutex_unlock(&time->lock);
}

int qzi_cpu_time_tend(struct qzi_cpu_time *time, const struct qz_session_view *view, pid_t pid) {
  uint64_t now_ns = qzi_clock_ns();
  if (!time->due_ns) time->start_ns = now_ns;
  if (now_ns >= time->due_ns) {
    uint64_t cpu_ns = qzi_thread_cpu_ns();
    qzi_cpu_time_read(time, view, pid);
    uint64_t end_ns = qzi_clock_ns(), least_ns = COST * (qzi_thread_cpu_ns() - cpu_ns),
             wait_ns = (end_ns - time->start_ns) / 8;
    if (wait_ns < SOON_NS) wait_ns = SOON_NS;
    if (wait_ns > LATER_NS) wait_ns = LATER_NS;
    if (wait_ns < least_ns) wait_ns = least_ns;
    time->due_ns = end_ns + wait_ns;
    now_ns = end_ns;
  }
  return (int)((time->due_ns - now_ns) / 1000000) + 1;
}

void qzi_cpu_time_close(struct qzi_cpu_time *time) {
  free(time->seen);
  time->seen = NULL;
  time->room = 0;
}
