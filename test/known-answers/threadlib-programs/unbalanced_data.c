/* Unbalanced data decomposition (paper, section 3.2.2; Table 2, Sequent 1): four threads do the same to four regions,
 * one of which takes four times as long. main waits at the join for it; three processors idle for three quarters.
 *
 * expect P 4
 * expect root: npt 1, T 1.75, idleness 2.25
 * expect procedure render: npt 1, T4 1, T1 0.75, parallelism 1.75
 * expect thread region-busy: npt 0.8125, T 1, parallelism 1.2308
 * expect thread region-1: npt 0.0625, T 0.25, parallelism 4
 * expect order npt: thread region-busy > thread region-1
 * expect finding 1: imbalance region-busy
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (200 * MS)

PROCEDURE void *render(void *units) {
  work_sleep((uintptr_t)units * UNIT);
  return NULL;
}

int main(void) {
  qz_thread_t thread[4];
  MUST(qz_create(&thread[0], "region-1", render, (void *)1));
  MUST(qz_create(&thread[1], "region-2", render, (void *)1));
  MUST(qz_create(&thread[2], "region-busy", render, (void *)4));
  MUST(qz_create(&thread[3], "region-3", render, (void *)1));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
