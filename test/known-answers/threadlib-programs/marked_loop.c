/* A thread that waits in a loop that it marks (QZ_SPIN_BEGIN), while another one works; it yields now and then.
 *
 * expect P 2
 * expect root: npt 1, T 1
 * expect loop done_flag: spinning 1, acquisitions 1, contended 1, npt 0
 */
#include <quartz/quartz.h>
#include <stdatomic.h>
#include "work.h"

static atomic_int done_flag;

PROCEDURE void *waits(void *unused) {
  QZ_SPIN_BEGIN(&done_flag);
  for (int k = 0; !done_flag; k++)
    if (k % 10000 == 0) qz_yield();
  QZ_SPIN_END(&done_flag);
  return unused;
}

int main(void) {
  qz_thread_t thread;
  MUST(qz_create(&thread, "waits", waits, NULL));
  work_sleep(800 * MS);
  done_flag = 1;
  MUST(qz_join(thread, NULL));
  return 0;
}
