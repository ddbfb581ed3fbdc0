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

PROCEDURE void inner(void) { work_sleep(30 * MS); }
PROCEDURE void other(void) { work_sleep(10 * MS); }

PROCEDURE void *compute(void *unused) {
  for (int k = 0; k < 20; k++) {
    inner();
    other();
  }
  return unused;
}

int main(void) {
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", compute, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
