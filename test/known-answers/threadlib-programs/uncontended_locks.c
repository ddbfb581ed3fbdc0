/* A negative control: very many acquisitions of locks that nobody else wants. No lock is to blame.
 *
 * expect P 2
 * expect untraced
 * expect lock mine: acquisitions 4000000, contended 0, wait 0, instances 2
 * expect calls add -> mine 4000000
 * expect no finding: lock-contention
 * expect no finding: spinning
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void add(qz_mutex *mine, long *sum) {
  for (long k = 0; k < 2000000; k++) {
    qz_mutex_lock(mine);
    *sum += k;
    qz_mutex_unlock(mine);
  }
}

PROCEDURE void *count(void *unused) {
  qz_mutex mine;
  long sum = 0;
  MUST(qz_mutex_init(&mine, "mine", QZ_BLOCK));
  add(&mine, &sum);
  MUST(qz_mutex_destroy(&mine));
  return sum == 2000000L * 1999999 / 2 ? unused : (void *)1;
}

int main(void) {
  qz_thread_t thread[2];
  void *wrong[2];
  for (int k = 0; k < 2; k++) MUST(qz_create(&thread[k], "counter", count, NULL));
  for (int k = 0; k < 2; k++) MUST(qz_join(thread[k], &wrong[k]));
  return wrong[0] || wrong[1];
}
