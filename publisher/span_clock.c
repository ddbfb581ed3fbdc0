/* Subtracts waits for CPUs from the clock of strands. See span_clock.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "span_clock.h"
#include "uncancelled.h"

_Thread_local struct qzi_span_cpu qzi_span_cpu __attribute__((tls_model("initial-exec")));
bool qzi_span_cpu_waits, qzi_span_kept_cycles;
uint64_t qzi_span_clock_cost;

#if HAS_RSEQ
static int open_waited(const char *task) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%s/schedstat", task);
  return open(name, O_RDONLY | O_CLOEXEC);
}
/* Returns how long the kernel thread has waited for CPUs, in ns, + 1; 0: unknown. */
static uint64_t read_waited(int fd) {
  char text[96];
  ssize_t bytes = pread(fd, text, sizeof text - 1, 0);
  unsigned long long run, waited;
  text[bytes > 0 ? bytes : 0] = 0;
  return sscanf(text, "%llu %llu", &run, &waited) == 2 ? waited + 1 : 0;
}
static uint64_t waited_of(const char *task) {
  int fd = open_waited(task);
  if (fd < 0) return 0;
  uint64_t waited = read_waited(fd);
  close(fd);
  return waited;
}
/* What the kernel says of the calling thread, and when. */
struct answer {
  uint64_t waited; /* as read_waited */
  uint64_t ran_ns, ticks;
  long slept;
};
static uint64_t ran_ns(void) {
  struct timespec ran;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran)) return 0;
  return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}
static long times_slept(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}
/* A thread that has not slept since the last answer was kept from running for all the time that it did not run: by the
 * kernel, which says for how long, or by the host. */
static void lose(const struct answer *now) {
  struct qzi_span_cpu *cpu = &qzi_span_cpu;
  uint64_t waited = now->waited ? now->waited - 1 : cpu->waited_ns, lost = 0;
  if (cpu->known && waited > cpu->waited_ns) lost = ticks_of(waited - cpu->waited_ns);
  bool complete = now->ran_ns && now->slept >= 0;
  if (cpu->complete && complete && now->slept == cpu->slept && now->ran_ns >= cpu->ran_ns) {
    int64_t away = (int64_t)(now->ticks - cpu->asked - ticks_of(now->ran_ns - cpu->ran_ns));
    if (away > (int64_t)lost) lost = (uint64_t)away;
  }
  *cpu = (struct qzi_span_cpu){.lost = cpu->lost + lost,
                               .noted = cpu->noted,
                               .waited_ns = waited,
                               .ran_ns = now->ran_ns,
                               .asked = now->ticks,
                               .ask_at = qzi_span_kept_cycles ? now->ticks + ticks_of(QZI_SPAN_UNASKED_NS) : 0,
                               .slept = now->slept,
                               .known = cpu->known || now->waited,
                               .complete = complete};
}
uint64_t qzi_span_waited(uint32_t os_tid) {
  char task[32];
  if (!qzi_span_cpu_waits || qzi_no_system_calls || !os_tid) return 0;
  snprintf(task, sizeof task, "self/task/%u", os_tid);
  return waited_of(task);
}

#define TRIES 16u /* bounds the loop if a library uses rseq itself */

/* The CPU may be taken away between the kernel's answer and the reading of the clock; that wait would be counted in
 * the strand. So if the CPU was taken away during the query, it is asked again, with as few instructions as possible
 * between the two. The time of the query itself is not counted in any strand. */
static __attribute__((noinline, cold)) uint64_t interrupted(void) {
  static _Thread_local uint64_t asking __attribute__((tls_model("initial-exec"))); /* duration of a query, in ticks */
  uint64_t begun = ticks_now();
  qzi_kept_ask();
  if (qzi_no_system_calls) return begun;
  int state = qzi_uncancelled();
  struct answer answer = {.slept = times_slept(), .waited = waited_of("thread-self"), .ran_ns = ran_ns()};
  answer.ticks = ticks_now();
  if (qzi_kept()) {
    asking = answer.ticks - begun;
  } else {
    int fd = open_waited("thread-self");
    for (unsigned tries = 0; fd >= 0 && tries < TRIES && !qzi_kept(); tries++) {
      qzi_kept_ask();
      answer = (struct answer){.slept = times_slept(), .waited = read_waited(fd), .ran_ns = ran_ns()};
      answer.ticks = ticks_now();
    }
    if (fd >= 0) close(fd);
  }
  qzi_cancelled_again(state);
  lose(&answer);
  qzi_span_cpu.lost += asking;
  return answer.ticks;
}

/* The thread has had its CPU since the last answer, as far as the kernel decides that; so it has neither waited nor
 * slept. */
static __attribute__((noinline, cold)) uint64_t overdue(void) {
  static _Thread_local uint64_t asking __attribute__((tls_model("initial-exec"))); /* the shortest, in ticks */
  uint64_t begun = ticks_now();
  if (qzi_no_system_calls) return begun;
  const struct qzi_span_cpu *cpu = &qzi_span_cpu;
  struct answer answer = {.slept = cpu->slept, .waited = cpu->known ? cpu->waited_ns + 1 : 0, .ran_ns = ran_ns()};
  answer.ticks = ticks_now();
  if (!qzi_kept()) return interrupted();
  if (!asking || answer.ticks - begun < asking) asking = answer.ticks - begun;
  lose(&answer);
  qzi_span_cpu.lost += asking;
  return answer.ticks;
}

__attribute__((noinline, cold)) uint64_t qzi_span_asks(uint64_t now) {
  if (!qzi_span_kept_cycles) now = ticks_now();
  if (!qzi_span_cpu_waits) return now;
  if (!qzi_kept()) return interrupted();
  return now - qzi_span_cpu.asked > ticks_of(QZI_SPAN_UNASKED_NS) ? overdue() : now;
}

static bool has_cpu_waits(void) {
  if (qzi_no_system_calls || !qzi_kept_works()) return false;
  interrupted();
  return qzi_span_cpu.known;
}
#else
uint64_t qzi_span_waited(uint32_t os_tid) {
  (void)os_tid;
  return 0;
}
#ifdef QZI_PUB_ONE_THREAD
static bool has_cpu_waits(void) { return true; }
#else
static bool has_cpu_waits(void) { return false; }
#endif
#endif

uint64_t qzi_span_stands_since(void) { return clock_now(); }
void qzi_span_stood(uint64_t since) {
  int64_t ticks = (int64_t)(clock_now() - since);
  if (ticks > 0) qzi_span_cpu.lost += (uint64_t)ticks;
}

void qzi_span_clock_prepare(void) {
#ifdef QZI_PUB_ONE_THREAD
  qzi_cpu_clock_prepare(QZI_SPAN_UNASKED_NS);
#endif
  qzi_span_cpu_waits = has_cpu_waits();
  qzi_span_kept_cycles = qzi_span_cpu_waits && tick_scale();
  qzi_span_cpu.ask_at = 0;
  qzi_span_clock_cost = UINT64_MAX;
  for (unsigned n = 0; n < 64; n++) {
    uint64_t from = clock_now(), ticks = clock_now() - from;
    if (ticks < qzi_span_clock_cost) qzi_span_clock_cost = ticks;
  }
}
