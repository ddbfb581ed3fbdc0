/* 18 processors: one unit each with 1, 9 and 18 of them at work.
 *
 * expect P 18
 * expect root: npt 1, T 9.3333, T1 0.3333, T9 3, T18 6, idleness 8.6667
 * expect procedure one: npt 0.3333, parallelism 1, idleness 5.6667, parallelize 0.3148
 * expect procedure nine: npt 0.3333, T9 3, parallelism 9, idleness 3, parallelize 0.1667
 * expect procedure all: npt 0.3333, T18 6, parallelism 18, idleness 0, parallelize 0
 * expect calls main -> nine 9
 * expect calls main -> all 18
 * expect finding 1: serial one
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (300 * MS)

PROCEDURE void one(void) { work_sleep(UNIT); }

PROCEDURE void *nine(void *unused) {
  work_sleep(UNIT);
  return unused;
}

PROCEDURE void *all(void *unused) {
  work_sleep(UNIT);
  return unused;
}

int main(void) {
  qz_thread_t thread[18];
  one();
  for (int k = 0; k < 9; k++) MUST(qz_create(&thread[k], "nine", nine, NULL));
  for (int k = 0; k < 9; k++) MUST(qz_join(thread[k], NULL));
  for (int k = 0; k < 18; k++) MUST(qz_create(&thread[k], "all", all, NULL));
  for (int k = 0; k < 18; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
