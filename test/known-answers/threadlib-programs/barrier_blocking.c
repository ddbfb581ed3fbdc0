/* Barrier imbalance, waiters block (Table 2, Sequent 4): in each round one thread has three units of work, the others
 * one. Two thirds of the time one processor works and three idle, because three threads wait at the barrier.
 *
 * Its queue is 3 long for two thirds of each round, observed since it was first waited for: 24/11 on average.
 *
 * expect P 4
 * expect root: npt 1, T 2, idleness 2
 * expect thread slow: npt 0.75, T 1, idleness 2
 * expect thread fast: npt 0.25, T 1, idleness 0
 * expect procedure relax_row: T4 1.3333, T1 0.6667
 * expect barrier step: blocked 2, queue 2.1818, wait 2, acquisitions 16
 * expect calls solve -> step 16
 * expect calls solve -> relax_row 16
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
  MUST(qz_barrier_init(&step, "step", 4, QZ_BLOCK));
  qz_thread_t thread[4];
  MUST(qz_create(&thread[0], "slow", solve, (void *)3));
  for (int k = 1; k < 4; k++) MUST(qz_create(&thread[k], "fast", solve, (void *)1));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
