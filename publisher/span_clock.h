/* The clock by which strands are measured (docs/reference/path.md, "Work and span"): it stands still while the kernel
 * lets others have the CPU.
 *
 * Owns:    how long each kernel thread has waited for CPUs.
 * Writer and reader: the kernel thread itself.
 * Must not: make a system call where the kernel has not taken the CPU away.
 *
 * The kernel clears rseq_cs when it takes the CPU away from a thread that is not in the section named there (uapi
 * linux/rseq.h); so a section that nobody executes is named, and where the name is gone, the kernel is asked how long
 * the thread has waited for CPUs.
 */
#ifndef QZI_SPAN_CLOCK_H
#define QZI_SPAN_CLOCK_H

#include "private.h"
#ifdef QZI_PUB_ONE_THREAD
#include <time.h>
#endif

#pragma GCC visibility push(hidden)
extern _Thread_local struct qzi_span_cpu {
  uint64_t lost;      /* ticks */
  uint64_t noted;     /* of these in the session, or from before the recording */
  uint64_t waited_ns; /* what the kernel said last */
  bool known;
} qzi_span_cpu __attribute__((tls_model("initial-exec")));
/* Waits for CPUs are left out. */
extern bool qzi_span_cpu_waits;
/* Of reading the clock, which is in each strand: ticks. */
extern uint64_t qzi_span_clock_cost;

/* Finds out both, for all kernel threads. */
void qzi_span_clock_prepare(void);
/* The kernel has taken the CPU away, or the thread is new: finds out for how long. The ticks then. */
uint64_t qzi_span_interrupted(void);
/* How long another kernel thread has waited for CPUs until now, ns, + 1; 0: not known. */
uint64_t qzi_span_waited(uint32_t os_tid);
#pragma GCC visibility pop

#ifdef QZI_PUB_ONE_THREAD
/* Its events take microseconds, and not all waits are seen: so its threads have processor time alone. */
static inline uint64_t ticks_now(void) {
  struct timespec now;
  if (qzi_no_system_calls || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t tick_scale(void) { return 0; }
#else
static inline uint64_t ticks_now(void) { return qzi_pub_ticks(); }
static inline uint64_t tick_scale(void) { return qzi_pub_ticks_scale(); }
#endif

#if !defined(QZI_PUB_ONE_THREAD) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define HAS_RSEQ 1
/* glibc 2.35 and newer register it; without, waits for CPUs stay in. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
extern char qzi_span_section[] __attribute__((visibility("hidden")));
#define RSEQ_CS 8 /* offset of rseq_cs in struct rseq */

static inline uint64_t *rseq_word(void) {
  return (uint64_t *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset + RSEQ_CS);
}
#else
#define HAS_RSEQ 0
#endif

static inline uint64_t clock_now(void) {
  uint64_t now = ticks_now();
#if HAS_RSEQ
  if (__builtin_expect(qzi_span_cpu_waits, 1) &&
      __builtin_expect(__atomic_load_n(rseq_word(), __ATOMIC_RELAXED) != (uint64_t)(uintptr_t)qzi_span_section, 0))
    now = qzi_span_interrupted();
#endif
  return now - qzi_span_cpu.lost;
}

#endif
