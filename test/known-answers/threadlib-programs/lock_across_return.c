/* A lock that is taken in one procedure and released in another: `take` is done when it returns, the lock is not. The
 * time in `under` is the lock's and not `take`'s; that in `after` is nobody's but main's.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect lock table: npt 0.75, T 0.75, acquisitions 5
 * expect procedure take: npt 0.25
 * expect procedure under: npt 0.5
 * expect procedure after: npt 0.25
 * expect procedure main: npt 1
 * expect calls take -> table 5
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_mutex table = QZ_MUTEX_INIT;

PROCEDURE void take(void) {
  MUST(qz_mutex_lock(&table));
  work_sleep(40 * MS);
}
PROCEDURE void under(void) { work_sleep(80 * MS); }
PROCEDURE void give(void) { MUST(qz_mutex_unlock(&table)); }
PROCEDURE void after(void) { work_sleep(40 * MS); }

int main(void) {
  MUST(qz_mutex_init(&table, "table", QZ_ADAPTIVE));
  for (int k = 0; k < 5; k++) {
    take();
    under();
    give();
    after();
  }
  return 0;
}
