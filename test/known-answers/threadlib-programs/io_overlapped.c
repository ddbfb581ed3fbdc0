/* A negative control: input in a declared blocking region that is overlapped with enough other work. No io finding.
 *
 * expect P 4
 * expect root: npt 1, T 4, io > 0.8
 * expect procedure compute: npt 1, parallelism 4
 * expect procedure read_ahead: T 0, io > 0.8
 * expect finding 1: optimize compute
 * expect no finding: io
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void *read_ahead(void *unused) {
  for (int block = 0; block < 2; block++) {
    qz_blocking_begin("disk");
    work_sleep(380 * MS);
    qz_blocking_end();
  }
  return unused;
}

PROCEDURE void *compute(void *unused) {
  for (int k = 0; k < 80; k++) {
    work_sleep(10 * MS);
    qz_yield(); /* to the reader, once it is back */
  }
  return unused;
}

int main(void) {
  qz_thread_t reader, thread[4];
  MUST(qz_create(&reader, "reader", read_ahead, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", compute, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  MUST(qz_join(reader, NULL));
  return 0;
}
