/* The processor time of a thread. See cpu_clock.h. */
#include "cpu_clock.h"
#include <time.h>
#include "private.h"

_Thread_local struct qzi_cpu_clock qzi_cpu_clock __attribute__((tls_model("initial-exec")));
uint64_t qzi_cpu_clock_unasked;

void qzi_cpu_clock_prepare(uint64_t unasked_ns) {
  uint64_t scale = qzi_pub_ticks_scale();
  bool works = scale && !qzi_no_system_calls && qzi_kept_works();
  qzi_cpu_clock_unasked = works ? (uint64_t)(((unsigned __int128)unasked_ns << 32) / scale) : 0;
}

static uint64_t asked(void) {
  struct timespec now;
  if (qzi_no_system_calls || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define TRIES 4u /* if the CPU is taken away meanwhile */

__attribute__((noinline, cold)) uint64_t qzi_cpu_clock_answer(void) {
#if QZI_HAS_KEPT
  for (unsigned tries = 0; qzi_cpu_clock_unasked && tries < TRIES; tries++) {
    qzi_kept_ask();
    uint64_t before = qz_cycles(), ran_ns = asked(), after = qz_cycles();
    qzi_cpu_clock = (struct qzi_cpu_clock){.ran_ns = ran_ns, .at = before + (after - before) / 2};
    if (qzi_kept()) return ran_ns;
  }
#endif
  return asked();
}
