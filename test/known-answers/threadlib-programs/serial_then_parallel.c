/* `a` alone for one unit, then `b` on 4 processors for one unit (docs/reference/metrics.md, section 7, first example).
 * Of the elapsed time `a` takes one half, and all of it while three processors have nothing to do.
 *
 * expect P 4
 * expect root: npt 1, T 2.5, T1 0.5, T4 2
 * expect procedure main: npt 1
 * expect procedure a: npt 0.5, T1 0.5, T4 0, parallelism 1, idleness 1.5, parallelize 0.375
 * expect procedure b: npt 0.5, T1 0, T4 2, parallelism 4, idleness 0, parallelize 0
 * expect calls main -> a 1
 * expect calls main -> b 4
 * expect callers b: main
 * expect finding 1: serial a
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (400 * MS)

PROCEDURE void a(void) { work_sleep(UNIT); }

PROCEDURE void *b(void *unused) {
  work_sleep(UNIT);
  return unused;
}

int main(void) {
  a();
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", b, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
