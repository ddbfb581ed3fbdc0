/* 4 threads pass one lock round, holding it; waiters spin (docs/reference/metrics.md, section 7, fourth example).
 * Nothing is idle: three processors burn. Turns are long, because where there are fewer CPUs than spinners the next
 * holder may have to wait for a CPU before it goes on.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect lock ring: npt 1, T1 1, parallelism 1, idleness 0, spinblame 3, spinning 3, acquisitions 20, hold 1, wait 3
 * expect calls pass -> ring 20
 * expect finding 1: spinning ring
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_mutex ring;
static int turns = 16; /* left; guarded by ring */

PROCEDURE void *pass(void *unused) {
  for (int more = 1; more;) {
    MUST(qz_mutex_lock(&ring));
    more = turns > 0;
    if (more) {
      turns--;
      work_sleep(60 * MS);
    }
    MUST(qz_mutex_unlock(&ring));
  }
  return unused;
}

int main(void) {
  MUST(qz_mutex_init(&ring, "ring", QZ_SPIN));
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "passer", pass, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
