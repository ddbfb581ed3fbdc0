/* The clock that measures strands (docs/reference/path.md, "Work and span"): it stops while the kernel runs other
 * threads on the CPU, or the host of a virtual machine runs others than this one.
 *
 * Owns:    how long each kernel thread has waited for CPUs.
 * Writer and reader: the kernel thread itself.
 * Must not: make a system call unless the kernel has taken the CPU away, or QZI_SPAN_UNASKED_NS have passed since the
 * last one.
 *
 * If the kernel has taken the CPU away (kept_cpu.h), it is asked how long the thread has waited for CPUs. Nothing shows
 * that the host has taken the CPU away; but the kernel knows and does not count it as the thread's processor time,
 * which is therefore read now and then.
 */
#ifndef QZI_SPAN_CLOCK_H
#define QZI_SPAN_CLOCK_H

#include "private.h"
#include "kept_cpu.h"
#ifdef QZI_PUB_ONE_THREAD
#include "cpu_clock.h"
#endif

#pragma GCC visibility push(hidden)
extern _Thread_local struct qzi_span_cpu {
  uint64_t lost;      /* waits so far, in ticks */
  uint64_t noted;     /* the part that is already in the session, or from before the recording */
  uint64_t waited_ns; /* the kernel's last answer; */
  uint64_t ran_ns;    /* how long the thread had run by then, */
  uint64_t asked;     /* in ticks: when that was, */
  uint64_t ask_at;    /* and when the kernel is asked again; 0: qzi_span_asks always decides, */
  long slept;         /* and how often it had slept */
  bool known;         /* there is an answer, */
  bool complete;      /* all of it */
} qzi_span_cpu __attribute__((tls_model("initial-exec")));
/* True if waits for CPUs are subtracted; and if, besides, ticks are those of the CPU's counter. */
extern bool qzi_span_cpu_waits, qzi_span_kept_cycles;
/* Cost of reading the clock, which is part of each strand, in ticks. */
extern uint64_t qzi_span_clock_cost;

/* The kernel is asked when so much time has passed without an answer. */
#define QZI_SPAN_UNASKED_NS 1000000u

/* Determines all three, for all kernel threads. */
void qzi_span_clock_prepare(void);
/* Called at `now`, by the CPU's counter, if the kernel has taken the CPU away, or the thread is new, or nothing was
 * asked for long: asks for how long it was away, and returns the ticks at the end. Where qzi_span_kept_cycles is false,
 * it is always called, and returns the ticks of the clock that is used there. */
uint64_t qzi_span_asks(uint64_t now);
/* Returns how long another kernel thread has waited for CPUs so far, in ns, + 1; 0: unknown. */
uint64_t qzi_span_waited(uint32_t os_tid);
#pragma GCC visibility pop

#ifdef QZI_PUB_ONE_THREAD
/* The pthread layer does not see all waits: so it uses the threads' processor time. */
static inline uint64_t ticks_now(void) { return qzi_cpu_clock_ns(); }
static inline uint64_t tick_scale(void) { return 0; }
static inline uint64_t ticks_of(uint64_t ns) { return ns; }
#else
static inline uint64_t ticks_now(void) { return qzi_pub_ticks(); }
static inline uint64_t tick_scale(void) { return qzi_pub_ticks_scale(); }
static inline uint64_t ticks_of(uint64_t ns) { return qzi_pub_ticks_of(ns); }
#endif

/* Waits for CPUs are subtracted from the package's clock; processor time does not contain them. */
#if QZI_HAS_KEPT && !defined(QZI_PUB_ONE_THREAD)
#define HAS_RSEQ 1
#else
#define HAS_RSEQ 0
#endif

static inline __attribute__((always_inline)) uint64_t clock_now(void) {
#if HAS_RSEQ
  uint64_t now = qz_cycles();
  if (__builtin_expect(!qzi_kept() || now > qzi_span_cpu.ask_at, 0)) now = qzi_span_asks(now);
  return now - qzi_span_cpu.lost;
#else
  return ticks_now() - qzi_span_cpu.lost;
#endif
}

#endif
