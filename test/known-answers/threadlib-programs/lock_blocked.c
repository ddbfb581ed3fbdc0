/* 4 threads do nothing but pass one lock round, holding it; waiters block (docs/reference/metrics.md, section 7, third
 * example). All of them take part until the last turn is over, so three wait all the time, whoever is served next.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect lock ring: npt 1, T1 1, parallelism 1, idleness 3, spinblame 0, queue 3, acquisitions 104, hold 1, wait 3
 * expect calls pass -> ring 104
 * expect finding 1: lock-contention ring
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_mutex ring;
static int turns = 100; /* left; guarded by ring */

PROCEDURE void *pass(void *unused) {
  for (int more = 1; more;) {
    MUST(qz_mutex_lock(&ring));
    more = turns > 0;
    if (more) {
      turns--;
      work_sleep(8 * MS);
    }
    MUST(qz_mutex_unlock(&ring));
  }
  return unused;
}

int main(void) {
  MUST(qz_mutex_init(&ring, "ring", QZ_BLOCK));
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "passer", pass, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
