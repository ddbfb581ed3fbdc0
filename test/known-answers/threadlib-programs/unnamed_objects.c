/* Objects without a name are distinguished by the place that made them: of two locks that look the same in the
 * program's text, the one made at the place marked SLOW is contended, the one at QUICK is not.
 *
 * expect P 4
 * expect lock at SLOW: T 1, idleness 3, acquisitions 44, queue 3
 * expect lock at QUICK: acquisitions 44, T 0
 * expect finding 1: lock-contention at SLOW
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_mutex slow, quick;
static int turns = 40; /* left; guarded by slow */

PROCEDURE void *work(void *unused) {
  for (int more = 1; more;) {
    MUST(qz_mutex_lock(&slow));
    more = turns > 0;
    if (more) {
      turns--;
      work_sleep(15 * MS);
    }
    MUST(qz_mutex_unlock(&slow));
    MUST(qz_mutex_lock(&quick));
    MUST(qz_mutex_unlock(&quick));
  }
  return unused;
}

int main(void) {
  MUST(qz_mutex_init(&slow, NULL, QZ_BLOCK));  /* SLOW */
  MUST(qz_mutex_init(&quick, NULL, QZ_BLOCK)); /* QUICK */
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "worker", work, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
