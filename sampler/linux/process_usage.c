/* Resource usage of a process. See process_usage.h. */
#include "process_usage.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi/profile.h"
#include "process.h"
#include "schedstat.h"
#include "sampler/util/clock.h"

/* Reads times and faults from /proc/PID/stat. The sum of the times comes from the process's clock, which is exact;
 * ticks only divide it between user and system mode. Returns 0, or -1 if the process is gone. */
static int read_stat(pid_t pid, struct qz_usage *usage) {
  unsigned long long minor, major, user, system;
  uint64_t run_ns, tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
  if (qzi_process_counts(pid, &minor, &major, &user, &system)) return -1;
  usage->user_ns = user * tick_ns;
  usage->system_ns = system * tick_ns;
  if (user + system && !qzi_cpu_time_of_process(pid, &run_ns)) {
    usage->system_ns = (uint64_t)((double)run_ns * (double)system / (double)(user + system));
    usage->user_ns = run_ns - usage->system_ns;
  }
  usage->minor_faults = minor;
  usage->major_faults = major;
  usage->ns = qzi_clock_ns();
  return 0;
}

/* Reads the counts of system calls that read and write; nothing if they may not be read. */
static void read_calls(pid_t pid, struct qz_usage *usage, uint64_t *known) {
  char name[64], text[512];
  snprintf(name, sizeof name, "/proc/%ld/io", (long)pid);
  FILE *file = fopen(name, "re");
  size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[bytes] = 0;
  unsigned long long read_bytes, written_bytes, reads, writes;
  if (sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &read_bytes, &written_bytes, &reads, &writes) !=
      4)
    return;
  usage->read_bytes = read_bytes;
  usage->written_bytes = written_bytes;
  usage->reads = reads;
  usage->writes = writes;
  *known |= QZ_USAGE_CALLS;
}

int qzi_process_usage_now(pid_t pid, struct qz_usage *usage) {
  char name[64], line[256];
  unsigned long long most_kb;
  *usage = (struct qz_usage){0};
  if (read_stat(pid, usage)) return -1;
  snprintf(name, sizeof name, "/proc/%ld/status", (long)pid);
  FILE *file = fopen(name, "re");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %llu", &most_kb) == 1) usage->resident_bytes = most_kb * 1024u;
  if (file) fclose(file);
  return 0;
}

static void keep_calls(struct qz_usage *usage, const struct qz_usage *of) {
  usage->read_bytes = of->read_bytes;
  usage->written_bytes = of->written_bytes;
  usage->reads = of->reads;
  usage->writes = of->writes;
}

static uint64_t ns_of(const struct timeval *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* Usage of our child, which has ended and was not reaped. Returns -1 if it has not ended. */
static int read_ended(pid_t pid, struct qz_usage *usage) {
  siginfo_t info = {0};
  struct rusage used; /* requires the system call: the C library's waitid has no parameter for it */
  if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, &used) || info.si_pid != pid) return -1;
  *usage = (struct qz_usage){.ns = qzi_clock_ns(),
                             .user_ns = ns_of(&used.ru_utime),
                             .system_ns = ns_of(&used.ru_stime),
                             .voluntary = (uint64_t)used.ru_nvcsw,
                             .involuntary = (uint64_t)used.ru_nivcsw,
                             .minor_faults = (uint64_t)used.ru_minflt,
                             .major_faults = (uint64_t)used.ru_majflt,
                             .resident_bytes = (uint64_t)used.ru_maxrss * 1024u};
  return 0;
}

/* Usage that the program has written; ns is 0 if it wrote nothing. */
static struct qz_usage task(const struct qz_usage *of) {
  struct qz_usage usage = {.ns = __atomic_load_n(&of->ns, __ATOMIC_ACQUIRE)};
  if (!usage.ns) return usage;
  uint64_t ns = usage.ns;
  usage = *of;
  usage.ns = ns;
  return usage;
}

void qzi_process_usage_begin(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid) {
  pthread_mutex_init(&usage->lock, NULL);
  usage->begin = task(&qz_session_head(view)->usage_begin);
  if (!usage->begin.ns) return; /* the program may not have permission to ask */
  usage->known = QZ_USAGE_TIMES;
  read_calls(pid, &usage->begin, &usage->known);
  usage->now = usage->begin;
}

void qzi_process_usage_go_on(struct qzi_process_usage *usage, struct qzi_process_usage *from) {
  pthread_mutex_lock(&from->lock);
  struct qz_usage begin = from->now;
  uint64_t known = from->known & ~QZ_USAGE_SWITCHES;
  pthread_mutex_unlock(&from->lock);
  pthread_mutex_lock(&usage->lock);
  usage->begin = usage->now = begin;
  usage->known = known;
  usage->later = 1;
  pthread_mutex_unlock(&usage->lock);
}

void qzi_process_usage_read(struct qzi_process_usage *usage, pid_t pid) {
  struct qz_usage now = {0};
  uint64_t known = 0;
  if (!usage->begin.ns || read_stat(pid, &now)) return;
  read_calls(pid, &now, &known);
  pthread_mutex_lock(&usage->lock);
  now.voluntary = usage->begin.voluntary;
  now.involuntary = usage->begin.involuntary;
  now.resident_bytes = usage->begin.resident_bytes;
  if (!known) keep_calls(&now, &usage->now); /* the counts of the last reading */
  usage->now = now;
  pthread_mutex_unlock(&usage->lock);
}

#define PATIENCE_MS 20u

void qzi_process_usage_await(const struct qz_session_view *view) {
  for (unsigned k = 0; k < PATIENCE_MS; k++) {
    if (__atomic_load_n(&qz_session_head(view)->usage_end.ns, __ATOMIC_ACQUIRE)) return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

void qzi_process_usage_end(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid,
                           int children) {
  if (!usage->begin.ns) return;
  struct qz_usage end = task(&qz_session_head(view)->usage_end), all;
  qzi_process_usage_read(usage, pid);
  pthread_mutex_lock(&usage->lock);
  if (end.ns) { /* the kernel's work after that counts, too, if it is known */
    usage->now.voluntary = end.voluntary;
    usage->now.involuntary = end.involuntary;
    usage->now.resident_bytes = end.resident_bytes;
    keep_calls(&end, &usage->now);
    if (usage->now.user_ns + usage->now.system_ns < end.user_ns + end.system_ns) usage->now = end;
    usage->known |= QZ_USAGE_SWITCHES;
  }
  if (!children && !read_ended(pid, &all)) {
    keep_calls(&all, &usage->now);
    usage->now = all;
    usage->known |= QZ_USAGE_SWITCHES;
  }
  if (usage->later) usage->known &= ~(uint64_t)QZ_USAGE_SWITCHES;
  pthread_mutex_unlock(&usage->lock);
}

struct qz_usage qzi_process_usage_since(struct qzi_process_usage *usage, uint64_t *known) {
  pthread_mutex_lock(&usage->lock);
  const struct qz_usage *begin = &usage->begin, *now = &usage->now;
#define SINCE(field) (now->field > begin->field ? now->field - begin->field : 0)
  struct qz_usage since = {.ns = SINCE(ns),
                           .user_ns = SINCE(user_ns),
                           .system_ns = SINCE(system_ns),
                           .voluntary = SINCE(voluntary),
                           .involuntary = SINCE(involuntary),
                           .minor_faults = SINCE(minor_faults),
                           .major_faults = SINCE(major_faults),
                           .resident_bytes = now->resident_bytes,
                           .reads = SINCE(reads),
                           .writes = SINCE(writes),
                           .read_bytes = SINCE(read_bytes),
                           .written_bytes = SINCE(written_bytes)};
#undef SINCE
  *known = since.ns ? usage->known : 0;
  pthread_mutex_unlock(&usage->lock);
  return since;
}
