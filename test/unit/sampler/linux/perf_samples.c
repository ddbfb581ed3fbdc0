/* Samples of running threads: of threads that existed before and of threads created later, in whichever way, and of no
 * other program; with events of the CPUs where these are permitted, with an event for each CPU, and with one for each
 * thread. */
#include "sampler/util/clock.h"
#include "sampler/linux/perf_samples.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test/support/check.h"

static atomic_int stop;
static atomic_uint old_tid, new_tid, maker_tid;

static void *compute(void *tid) {
  atomic_store((atomic_uint *)tid, (unsigned)gettid());
  while (!atomic_load_explicit(&stop, memory_order_relaxed)) {}
  return NULL;
}
static void *make(void *unused) {
  pthread_t thread;
  maker_tid = (unsigned)gettid();
  CHECK_IS(pthread_create(&thread, NULL, compute, &new_tid), 0);
  return pthread_join(thread, NULL) ? NULL : unused;
}

static int is_thread(unsigned tid) { return !syscall(SYS_tgkill, getpid(), (pid_t)tid, 0); }

/* Until both computing threads have `least` more samples, or 100 of them were due. */
static void read_samples(struct qzi_running *running, unsigned *old_seen, unsigned *new_seen, unsigned least) {
  static struct qzi_sample sample;
  struct timespec used;
  *old_seen = *new_seen = 0;
  long long until_ms = 0;
  do {
    while (qzi_running_next(running, &sample)) {
      CHECK(sample.at.pc && sample.at.sp);
      CHECK(sample.tid == old_tid || sample.tid == new_tid || sample.tid == (unsigned)getpid() ||
            sample.tid == maker_tid || is_thread(sample.tid)); /* a sanitizer has a thread of its own */
      CHECK(!sample.copy.bytes || sample.copy.address == sample.at.sp);
      *old_seen += sample.tid == old_tid;
      *new_seen += sample.tid == new_tid;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    long long ms = used.tv_sec * 1000 + used.tv_nsec / 1000000;
    if (!until_ms) until_ms = ms + 400;
    if (ms > until_ms) break;
  } while (*old_seen < least || *new_seen < least);
}

/* One of four: those that are left out are counted, and those that are not stand for them. */
static void try_parts(struct qzi_running *running) {
  static struct qzi_sample sample;
  unsigned taken = 0, stand = 0, left_out;
  struct timespec used;
  long long until_ms = 0, ms;
  while (qzi_running_next(running, &sample)) CHECK_IS(sample.stands, 1);
  CHECK_IS(qzi_running_left_out(running), 0);
  qzi_running_thin(running, 4);
  do {
    if (qzi_running_any(running))
      for (; qzi_running_next(running, &sample); taken++) stand += sample.stands;
    CHECK(!qzi_running_next(running, &sample));
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    ms = used.tv_sec * 1000 + used.tv_nsec / 1000000;
    if (!until_ms) until_ms = ms + 400;
  } while (taken < 8 && ms < until_ms);
  left_out = qzi_running_left_out(running);
  CHECK(taken >= 8 && stand == 4 * taken && left_out >= 3 * (taken - 1) && left_out <= 3 * (taken + 1));
  CHECK_IS(qzi_running_left_out(running), 0);
  qzi_running_thin(running, 1);
}

static void try_with(uint32_t cpus_most, int whole) {
  unsigned old_seen, new_seen;
  pthread_t old, maker;
  stop = 0;
  old_tid = new_tid = 0;
  CHECK_IS(pthread_create(&old, NULL, compute, &old_tid), 0);
  while (!old_tid) {}
  struct qzi_running *running = qzi_running_open((uint32_t)getpid(), 0, 2000000, cpus_most, whole, QZI_RUNNING_STACK);
  CHECK(running);
  CHECK(whole || !qzi_running_whole(running));
  CHECK_IS(pthread_create(&maker, NULL, make, NULL), 0);
  while (!new_tid) {}
  CHECK_IS(qzi_running_begin(running, old_tid), 0);
  CHECK_IS(qzi_running_begin(running, new_tid), 0);
  read_samples(running, &old_seen, &new_seen, 5);
  CHECK(old_seen >= 5 && new_seen >= 5);
  try_parts(running);
  qzi_running_pause(running, 1);
  read_samples(running, &old_seen, &new_seen, 0);
  read_samples(running, &old_seen, &new_seen, 20);
  CHECK(old_seen == 0 && new_seen == 0);
  qzi_running_pause(running, 0);
  read_samples(running, &old_seen, &new_seen, 5);
  CHECK(old_seen >= 5 && new_seen >= 5);
  stop = 1;
  CHECK_IS(pthread_join(old, NULL), 0);
  CHECK_IS(pthread_join(maker, NULL), 0);
  qzi_running_end(running, old_tid);
  qzi_running_end(running, new_tid);
  qzi_running_close(running);
}

static void drain(struct qzi_running *running) {
  static struct qzi_sample sample;
  while (qzi_running_next(running, &sample)) {}
}

/* Creation of processes, in whichever way and by whichever thread; not of their children, and not of threads.
 * `running`: is read after each; NULL: by another thread. */
static void *make_processes(void *running) {
  for (volatile int k = 0; k < 5; k++) { /* vfork returns twice */
    pid_t child = k % 2 ? fork() : vfork();
    if (!child) _exit(0);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    if (running) drain(running);
  }
  pid_t child = fork();
  if (!child) {
    pid_t inner = fork();
    if (inner > 0) waitpid(inner, NULL, 0);
    _exit(0);
  }
  CHECK_IS(waitpid(child, NULL, 0), child);
  return NULL;
}

/* Records are read while processes are created, as when a program is recorded: the buffers also get those of all other
 * programs on the CPUs. */
static void try_processes(uint32_t cpus_most, int whole) {
  pthread_t thread;
  struct qzi_running *running = qzi_running_open((uint32_t)getpid(), 0, 2000000, cpus_most, whole, QZI_RUNNING_STACK);
  CHECK(running);
  make_processes(running);
  drain(running);
  CHECK_IS(pthread_create(&thread, NULL, make_processes, NULL), 0);
  while (pthread_tryjoin_np(thread, NULL)) {
    drain(running);
    usleep(100);
  }
  drain(running);
  CHECK_IS(qzi_running_forked(running), cpus_most ? 12 : 6); /* nothing is known of a thread without an event */
  CHECK_IS(qzi_running_forked(running), 0);
  qzi_running_close(running);
}

#define PAGES 20000u
/* Touched once the first ones have been read: lost samples are reported before the next one. */
#define MORE  256u

static _Atomic int touched, drained;

/* A sanitizer has page faults of its own for each access that it checks. */
__attribute__((no_sanitize("address", "thread"))) static void touch_pages(char *at, size_t bytes) {
  for (size_t k = 0; k < bytes; k += 4096) at[k] = 1;
}

static void *touch(void *unused) {
  size_t first = PAGES * 4096u, bytes = first + MORE * 4096u;
  char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  madvise(at, bytes, MADV_NOHUGEPAGE);
  touch_pages(at, first);
  touched = 1;
  while (!drained) nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  touch_pages(at + first, bytes - first);
  return munmap(at, bytes) ? NULL : unused;
}

/* Events that are counted instead of time: page faults, in place of the events that a processor may count. most: so
 * many samples a second at most (0: no limit). */
static void try_counting(uint32_t cpus_most, int whole, uint32_t most) {
  struct qzi_event event = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 64, most};
  static struct qzi_sample sample;
  pthread_t thread;
  struct qzi_running *running = qzi_running_count((uint32_t)getpid(), 0, &event, cpus_most, whole);
  CHECK(running);
  touched = drained = 0;
  uint64_t begin_ns = qzi_clock_ns();
  CHECK_IS(pthread_create(&thread, NULL, touch, NULL), 0);
  uint64_t counted = 0, samples = 0;
  for (int ended = 0, last = 0; !last;) {
    last = ended;
    int all = touched;
    while (qzi_running_next(running, &sample)) {
      CHECK(sample.count >= 1);
      CHECK(sample.user);
      counted += sample.count;
      samples++;
    }
    drained = all;
    if (!ended) ended = !pthread_tryjoin_np(thread, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
  CHECK(samples > 2);
  /* Without a limit there are 300. With it, after 10 of each period it is four times as long; a machine that takes
   * seconds for these pages has as many samples as it may in each. */
  if (most) CHECK(samples < 100 + most * ((qzi_clock_ns() - begin_ns) / 1000000000));
  CHECK(counted <= PAGES + MORE + (most ? 8000 : 2000)); /* others of this program: stacks, code; one longer period */
  if (!whole) CHECK(counted >= PAGES - PAGES / 20);      /* events of CPUs lose some where readers come late */
  qzi_running_close(running);
}

/* Where CPUs may have events, no thread gets one: the first event of a thread on a machine takes the kernel 15 ms and
 * more. A filter refuses them. */
static void try_without_threads(void) {
  int fd = qzi_perf_event_open(QZI_PERF_WHOLE, 0, NULL, 2000000, QZI_RUNNING_STACK, 1, 0);
  if (fd < 0) return;
  close(fd);
  struct sock_filter refuse[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 3),
                                 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 1, 0),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof refuse / sizeof *refuse, refuse};
  CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
  CHECK_IS(qzi_running_allowed((uint32_t)getpid()), 0);
  uint64_t ns = qzi_running_cost_ns();
  CHECK(ns > 0 && ns < 5000000);
}

int main(void) {
  struct qzi_running *running =
    qzi_running_open((uint32_t)getpid(), 0, 2000000, QZI_RUNNING_CPUS, 0, QZI_RUNNING_STACK);
  CHECK(running);
  qzi_running_close(running);
  pid_t other = fork(); /* another program, which computes at the same time */
  if (!other) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where a check fails */
    for (;;) {}
  }
  CHECK(other > 0);
  try_with(QZI_RUNNING_CPUS, 1);
  try_with(QZI_RUNNING_CPUS, 0);
  try_with(0, 0);
  CHECK_IS(kill(other, SIGKILL), 0);
  try_processes(QZI_RUNNING_CPUS, 1);
  try_processes(QZI_RUNNING_CPUS, 0);
  try_processes(0, 0);
  try_counting(QZI_RUNNING_CPUS, 1, 0);
  try_counting(QZI_RUNNING_CPUS, 1, 100);
  try_counting(QZI_RUNNING_CPUS, 0, 0);
  static const struct qzi_event nothing = {PERF_TYPE_SOFTWARE, UINT32_MAX, 1, 0}; /* no kernel has it */
  CHECK(!qzi_running_count((uint32_t)getpid(), 0, &nothing, QZI_RUNNING_CPUS, 0));
  try_without_threads(); /* the last one: the filter stays */
  CHECK(qzi_running_cost_ns() < 5000000);
  return 0;
}
