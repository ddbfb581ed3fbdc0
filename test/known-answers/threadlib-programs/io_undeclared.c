/* The same as io_declared.c without declaring it to the package: the time in the kernel counts as processor time of the
 * procedure that reads, as in the paper (section 3.2.4), and three processors idle meanwhile.
 *
 * expect P 4
 * expect root: npt 1, T 2.5
 * expect procedure read_block: npt 0.5, T1 0.5, parallelism 1, idleness 1.5, calls 4
 * expect procedure compute: npt 0.5, T4 2, parallelism 4
 * expect finding 1: serial read_block
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (100 * MS)

PROCEDURE void read_block(void) { work_sleep(UNIT); }

PROCEDURE void *compute(void *unused) {
  work_sleep(UNIT);
  return unused;
}

int main(void) {
  for (int block = 0; block < 4; block++) {
    read_block();
    qz_thread_t thread[4];
    for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", compute, NULL));
    for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  }
  return 0;
}
