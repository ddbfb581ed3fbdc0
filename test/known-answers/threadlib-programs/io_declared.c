/* Input that is not overlapped (Table 2, Sequent 3 and Warp 1), inside a declared blocking region: while the block is
 * read nothing runs, and then four processors compute.
 *
 * expect P 4
 * expect root: npt 0.5, T 2, io 0.5
 * expect nothing ran 0.5
 * expect procedure read_block: T 0, io 0.5, calls 4
 * expect procedure compute: npt 0.5, T4 2, parallelism 4
 * expect some finding: io read_block
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (100 * MS)

PROCEDURE void read_block(void) {
  qz_blocking_begin("disk");
  work_sleep(UNIT);
  qz_blocking_end();
}

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
