/* 8 threads on 4 processors, all computing `b`, one unit of work each on average; they take turns
 * (docs/reference/metrics.md, section 7, fifth example). All processors work all the time: only less work would help.
 * Each thread is ready, without a processor, for half of its life.
 *
 * expect P 4
 * expect root: npt 1, T 4
 * expect procedure b: npt 1, T4 4, T1 0, parallelism 4, idleness 0, parallelize 0, ready 4, runnable 8
 * expect thread worker: npt 1, instances 8
 * expect calls main -> b 8
 * expect finding 1: optimize b
 * expect no finding: lock-contention
 */
#include <stdatomic.h>
#include <quartz/quartz.h>
#include "work.h"

static atomic_int left = 640; /* shared, so that all end together whoever is served how often */

PROCEDURE void *b(void *unused) {
  while (atomic_fetch_sub(&left, 1) > 0) {
    work_sleep(5 * MS);
    qz_yield();
  }
  return unused;
}

int main(void) {
  qz_thread_t thread[8];
  for (int k = 0; k < 8; k++) MUST(qz_create(&thread[k], "worker", b, NULL));
  for (int k = 0; k < 8; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
