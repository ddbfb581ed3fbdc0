/* Starvation (Table 2, Harris 3): two threads for four processors. Nobody waits for anything but main, for the end of
 * both; two processors have nothing to do. More threads, of smaller pieces, would help.
 *
 * expect P 4
 * expect root: npt 1, T 2
 * expect procedure compute: npt 1, T2 2, parallelism 2, idleness 2, parallelize 0.5
 * expect finding 1: starvation compute
 * expect no finding: lock-contention
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void *compute(void *unused) {
  work_sleep(800 * MS);
  return unused;
}

int main(void) {
  qz_thread_t thread[2];
  for (int k = 0; k < 2; k++) MUST(qz_create(&thread[k], "half", compute, NULL));
  for (int k = 0; k < 2; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
