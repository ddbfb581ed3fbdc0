/* Measures the cost of samples, and of the timer that takes them. See perf_samples.h. */
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sampler/util/clock.h"
#include "perf_event.h"
#include "sleep_cost.h"
#include "thread_sample.h"

#define TRIALS      15u    /* the result is the median of this many trials */
#define TRIAL_NS    25000u /* ns of processor time between samples */
#define PATIENCE_NS UINT64_C(5000000)
#define BYTES       (17 * 4096u) /* buffer with its head page */

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static uint64_t gap_ns(int fd) {
  uint64_t gaps[TRIALS], seen = 0;
  uint32_t count = 0;
  struct perf_event_mmap_page *page =
    fd < 0 ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) {
    /* The cost of a sample: the longest time between two readings of the clock until its arrival was noticed. */
    uint64_t begin = qzi_clock_ns(), before = begin, longest = 0, now;
    do {
      now = qzi_clock_ns();
      if (now - before > longest) longest = now - before;
      before = now;
      uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
      if (head == seen) continue;
      seen = head;
      now = qzi_clock_ns();
      gaps[count++] = now - before > longest ? now - before : longest;
      before = now;
      longest = 0;
      __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    } while (count < TRIALS && now - begin < PATIENCE_NS);
    munmap(page, BYTES);
  }
  if (fd >= 0) close(fd);
  qsort(gaps, count, sizeof *gaps, by_size);
  return count ? gaps[count / 2] : 0;
}

/* By an event of the CPU, where that is allowed, else by one of the calling thread (perf_samples.h). */
static uint64_t cost_ns(void) {
  cpu_set_t before, here;
  int cpu = sched_getcpu(), fd = -1;
  CPU_ZERO(&here);
  if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &here);
  int pinned = !sched_getaffinity(0, sizeof before, &before) && !sched_setaffinity(0, sizeof here, &here);
  if (pinned) fd = qzi_perf_event_open(QZI_PERF_WHOLE, cpu, NULL, TRIAL_NS, QZI_RUNNING_STACK, 0, 0);
  if (fd < 0) fd = qzi_perf_event_open(0, -1, NULL, TRIAL_NS, QZI_RUNNING_STACK, 0, 0);
  uint64_t ns = gap_ns(fd);
  if (pinned) sched_setaffinity(0, sizeof before, &before);
  return ns;
}

uint64_t qzi_running_cost_ns(void) {
  static _Atomic uint64_t known; /* result + 1, so that a result of 0 is also stored; 0: not measured */
  if (known) return known - 1;
  /* Keeps other threads from running by real-time priority, if the user may set it. */
  struct sched_param before, first = {.sched_priority = 1};
  int policy = sched_getscheduler(0);
  int raised =
    policy >= 0 && !sched_getparam(0, &before) && !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
  known = cost_ns() + 1;
  if (raised) sched_setscheduler(0, policy, &before);
  return known - 1;
}

#define TURNS  8u
#define ROUNDS 7u

/* Processor time of a thread that sleeps and wakes, with the timer minus without it: medians of some rounds each. */
uint64_t qzi_perf_timer_ns(void) {
  int fd = qzi_perf_event_open(0, -1, NULL, UINT64_C(2000000), QZI_RUNNING_STACK, 1, 0);
  uint64_t taken[2][ROUNDS], begin_ns = qzi_clock_ns(), median[2];
  uint32_t count = 0;
  if (fd < 0) return 0;
  do {
    for (int on = 0; on < 2; on++) {
      ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
      taken[on][count] = qzi_sleeps_cpu_ns(TURNS);
    }
  } while (++count < ROUNDS && qzi_clock_ns() - begin_ns < PATIENCE_NS);
  close(fd);
  for (int on = 0; on < 2; on++) {
    qsort(taken[on], count, sizeof *taken[on], by_size);
    median[on] = taken[on][count / 2];
  }
  return median[1] > median[0] ? (median[1] - median[0]) / TURNS : 0;
}
