/* The processor time of the calling kernel thread: as the kernel counts it, but without a system call while it has
 * kept its CPU; then the CPU's counter says how much has passed.
 *
 * Owns:    qzi_cpu_clock of each kernel thread. Writer and reader: the thread.
 * Must not: go without the kernel's answer for longer than QZI_SPAN_UNASKED_NS: nothing shows that the host of a
 *           virtual machine has taken the CPU away.
 */
#ifndef QZI_CPU_CLOCK_H
#define QZI_CPU_CLOCK_H

#include "kept_cpu.h"
#include "ticks.h"

#pragma GCC visibility push(hidden)
extern _Thread_local struct qzi_cpu_clock {
  uint64_t ran_ns; /* the kernel's last answer, */
  uint64_t at;     /* by the CPU's counter */
} qzi_cpu_clock __attribute__((tls_model("initial-exec")));
/* Of the CPU's counter: the kernel is asked when so much has passed without an answer. 0: always. */
extern uint64_t qzi_cpu_clock_unasked;
void qzi_cpu_clock_prepare(uint64_t unasked_ns);
uint64_t qzi_cpu_clock_answer(void);
#pragma GCC visibility pop

static inline uint64_t qzi_cpu_clock_ns(void) {
#if QZI_HAS_KEPT
  const struct qzi_cpu_clock *clock = &qzi_cpu_clock;
  if (__builtin_expect(qzi_cpu_clock_unasked != 0, 1)) {
    uint64_t passed = qz_cycles() - clock->at;
    if (__builtin_expect(qzi_kept() && passed < qzi_cpu_clock_unasked, 1)) /* in this order */
      return clock->ran_ns + (uint64_t)((unsigned __int128)passed * qzi_pub_ticks_scale() >> 32);
  }
#endif
  return qzi_cpu_clock_answer();
}

#endif
