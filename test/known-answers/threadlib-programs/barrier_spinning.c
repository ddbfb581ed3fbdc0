/* Barrier imbalance, waiters spin: as barrier_blocking.c, but the processors of those who wait burn.
 *
 * expect P 4
 * expect root: npt 1, T 2, idleness 0, spinblame 2
 * expect thread slow: npt 0.75, T 1, spinblame 2
 * expect thread fast: npt 0.25, T 1, spinblame 0
 * expect barrier step: spinning 2, blocked 0, wait 2, acquisitions 16
 * expect calls solve -> step 16
 * expect finding 1: imbalance step
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_barrier step;

PROCEDURE void relax_row(uint64_t ns) { work_sleep(ns); }

PROCEDURE void *solve(void *units) {
  for (int round = 0; round < 4; round++) {
    relax_row((uintptr_t)units * (75 * MS));
    int error = qz_barrier_wait(&step);
    if (error && error != QZ_BARRIER_SERIAL) MUST(error);
  }
  return NULL;
}

int main(void) {
  MUST(qz_barrier_init(&step, "step", 4, QZ_SPIN));
  qz_thread_t thread[4];
  MUST(qz_create(&thread[0], "slow", solve, (void *)3));
  for (int k = 1; k < 4; k++) MUST(qz_create(&thread[k], "fast", solve, (void *)1));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
