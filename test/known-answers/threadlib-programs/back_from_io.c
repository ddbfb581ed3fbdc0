/* A thread that comes back from a declared blocking region while the only processor is taken waits like any other that
 * is ready: it counts as runnable although it is in no processor's queue.
 *
 * expect P 1
 * expect root: npt 1, T 1
 * expect procedure compute: npt 0.8, T1 0.8, runnable 1.75
 * expect thread reader: io 0.2, ready 0.6
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (100 * MS)

PROCEDURE void compute(void) { work_sleep(4 * UNIT); }

PROCEDURE void *reader(void *unused) {
  qz_blocking_begin("disk");
  work_sleep(UNIT);
  qz_blocking_end();
  work_sleep(UNIT);
  return unused;
}

int main(void) {
  qz_thread_t thread;
  MUST(qz_create(&thread, "reader", reader, NULL));
  qz_yield(); /* the reader begins to read */
  compute();
  MUST(qz_join(thread, NULL));
  return 0;
}
