/* Many threads of one name, one after the other and side by side: 10 rounds of 4. They are shown as one, with their
 * number; a thread with another name stays apart.
 *
 * expect P 4
 * expect root: npt 1, T 3.4
 * expect thread worker: npt 0.8, T 3.2, instances 40, parallelism 4
 * expect thread main: npt 0.2
 * expect procedure part: npt 0.8, calls 40
 * expect procedure prepare: npt 0.2, self 0.2, idleness 0.6, calls 10
 * expect calls main -> part 40
 * expect finding 1: serial prepare
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void *part(void *unused) {
  work_sleep(80 * MS);
  return unused;
}

PROCEDURE void prepare(void) { work_sleep(20 * MS); }

int main(void) {
  for (int round = 0; round < 10; round++) {
    prepare();
    qz_thread_t thread[4];
    for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "worker", part, NULL));
    for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  }
  return 0;
}
