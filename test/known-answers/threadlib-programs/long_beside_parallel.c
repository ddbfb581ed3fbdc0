/* `a` on one processor for two units; beside it `b` on the 3 others during the first (docs/reference/metrics.md,
 * section 7, second example). Most of what `a` costs is its second unit, in which it is alone.
 *
 * expect P 4
 * expect root: npt 1, T 2.5
 * expect procedure a: npt 0.625, T4 0.5, T1 0.5, parallelism 1.6, idleness 1.5, parallelize 0.375
 * expect procedure b: npt 0.375, T4 1.5, T1 0, parallelism 4, idleness 0, parallelize 0
 * expect order npt: procedure a > procedure b
 * expect finding 1: imbalance a
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (400 * MS)

PROCEDURE void *a(void *unused) {
  work_sleep(2 * UNIT);
  return unused;
}

PROCEDURE void *b(void *unused) {
  work_sleep(UNIT);
  return unused;
}

int main(void) {
  qz_thread_t thread[4];
  MUST(qz_create(&thread[0], "long", a, NULL));
  for (int k = 1; k < 4; k++) MUST(qz_create(&thread[k], "short", b, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
