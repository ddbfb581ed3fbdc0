/* Waits for CPUs, out of the clock of strands. See span_clock.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "span_clock.h"

_Thread_local struct qzi_span_cpu qzi_span_cpu __attribute__((tls_model("initial-exec")));
bool qzi_span_cpu_waits;
uint64_t qzi_span_clock_cost;

#if HAS_RSEQ
/* The section, its abort address behind the signature that the kernel wants to see there; and its descriptor. */
__asm__(".pushsection .text\n"
        "0: ud2\n1:\n .byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n2: ud2\n"
        ".popsection\n"
        ".pushsection .data.rel.ro, \"aw\"\n .balign 32\n .hidden qzi_span_section\n .globl qzi_span_section\n"
        "qzi_span_section: .long 0, 0\n .quad 0b, 1b - 0b, 2b\n"
        ".popsection\n");

/* How long the kernel thread has waited for CPUs, ns, + 1; 0: not known. */
static uint64_t waited_of(const char *task) {
  char text[96], name[64];
  snprintf(name, sizeof name, "/proc/%s/schedstat", task);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  unsigned long long run, waited;
  text[bytes > 0 ? bytes : 0] = 0;
  return sscanf(text, "%llu %llu", &run, &waited) == 2 ? waited + 1 : 0;
}
static void ask(void) {
  struct qzi_span_cpu *cpu = &qzi_span_cpu;
  uint64_t waited = waited_of("thread-self");
  if (!waited--) return;
  if (cpu->known && waited > cpu->waited_ns) {
    uint64_t ns = waited - cpu->waited_ns;
    cpu->lost += tick_scale() ? (uint64_t)(((unsigned __int128)ns << 32) / tick_scale()) : ns;
  }
  cpu->waited_ns = waited;
  cpu->known = true;
}
uint64_t qzi_span_waited(uint32_t os_tid) {
  char task[32];
  if (!qzi_span_cpu_waits || qzi_no_system_calls || !os_tid) return 0;
  snprintf(task, sizeof task, "self/task/%u", os_tid);
  return waited_of(task);
}
__attribute__((noinline, cold)) uint64_t qzi_span_interrupted(void) {
  uint64_t now = ticks_now();
  /* The CPU may be taken away between the kernel's answer and the look at the clock: that wait would be in the strand.
   * Not until it was not: a library that uses rseq itself would make that a loop. */
  for (unsigned tries = 0; tries < 4; tries++) {
    __atomic_store_n(rseq_word(), (uint64_t)(uintptr_t)qzi_span_section, __ATOMIC_RELAXED);
    if (qzi_no_system_calls) return now;
    ask();
    now = ticks_now();
    if (__atomic_load_n(rseq_word(), __ATOMIC_RELAXED) == (uint64_t)(uintptr_t)qzi_span_section) break;
  }
  return now;
}

static bool has_cpu_waits(void) {
  if (!&__rseq_offset || !&__rseq_size || !__rseq_size || qzi_no_system_calls) return false;
  /* Whether the kernel does clear it: asleep, the thread loses its CPU, unless the time was over before it slept. */
  qzi_span_interrupted();
  if (!qzi_span_cpu.known) return false;
  for (unsigned us = 1; us <= 10000; us *= 10) {
    usleep(us);
    if (__atomic_load_n(rseq_word(), __ATOMIC_RELAXED) == 0) return true;
  }
  return false;
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

void qzi_span_clock_prepare(void) {
  qzi_span_cpu_waits = has_cpu_waits();
  qzi_span_clock_cost = UINT64_MAX;
  for (unsigned n = 0; n < 64; n++) {
    uint64_t from = clock_now(), ticks = clock_now() - from;
    if (ticks < qzi_span_clock_cost) qzi_span_clock_cost = ticks;
  }
}
