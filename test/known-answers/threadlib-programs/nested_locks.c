/* Two locks, one inside the other. What is done under both is
 * charged to both, once each; releasing the outer one first leaves the inner one on the stack.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect lock outer: T 0.75, npt 0.75
 * expect lock inner: T 0.75, npt 0.75
 * expect procedure both: T 0.5, npt 0.5
 * expect procedure outer_only: T 0.25
 * expect procedure inner_only: T 0.25
 * expect calls work -> outer 4
 * expect calls work -> inner 4
 * expect callers both: work
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_mutex outer, inner;

PROCEDURE void outer_only(void) { work_sleep(50 * MS); }
PROCEDURE void both(void) { work_sleep(100 * MS); }
PROCEDURE void inner_only(void) { work_sleep(50 * MS); }

PROCEDURE void *work(void *unused) {
  for (int k = 0; k < 4; k++) {
    MUST(qz_mutex_lock(&outer));
    outer_only();
    MUST(qz_mutex_lock(&inner));
    both();
    MUST(qz_mutex_unlock(&outer)); /* before the inner one: releases need not be nested */
    inner_only();
    MUST(qz_mutex_unlock(&inner));
  }
  return unused;
}

int main(void) {
  MUST(qz_mutex_init(&outer, "outer", QZ_BLOCK));
  MUST(qz_mutex_init(&inner, "inner", QZ_BLOCK));
  qz_thread_t thread;
  MUST(qz_create(&thread, "worker", work, NULL));
  MUST(qz_join(thread, NULL));
  return 0;
}
