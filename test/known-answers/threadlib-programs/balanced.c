/* A negative control: four processors, four threads, all at work all the time. Nothing to blame: only less work helps.
 *
 * expect P 4
 * expect root: npt 1, T 4, idleness 0, spinblame 0
 * expect procedure compute: npt 1, parallelism 4, parallelize 0
 * expect procedure inner: npt 0.75, self 0.75
 * expect procedure other: npt 0.25, self 0.25
 * expect order npt: procedure compute > procedure inner > procedure other
 * expect finding 1: optimize inner
 * expect no finding: lock-contention
 * expect no finding: serial
 * expect no finding: imbalance
 * expect no finding: starvation
 * expect no finding: overhead
 */
#include <quartz/quartz.h>
#include "work.h"

static uint64_t begin_ns; /* all go by one clock, so that late wake-ups don't add up */

PROCEDURE void inner(uint64_t end_ns) { work_sleep_until(end_ns); }
PROCEDURE void other(uint64_t end_ns) { work_sleep_until(end_ns); }

PROCEDURE void *compute(void *unused) {
  for (uint64_t k = 0; k < 20; k++) {
    inner(begin_ns + (40 * k + 30) * MS);
    other(begin_ns + (40 * k + 40) * MS);
  }
  return unused;
}

int main(void) {
  qz_thread_t thread[4];
  begin_ns = work_clock_ns();
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", compute, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
