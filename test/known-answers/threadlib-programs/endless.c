/* Runs until it is killed, in a period of 40 ms: 20 ms `alone`, 20 ms `together` on four processors;
 * prints "ready" when it has begun. For tests of attach, detach and kill.
 *
 * expect P 4
 * expect manual
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void alone(void) { work_sleep(20 * MS); }

PROCEDURE void *together(void *unused) {
  work_sleep(20 * MS);
  return unused;
}

PROCEDURE void round_trip(void) {
  alone();
  qz_thread_t thread[4];
  for (int k = 0; k < 4; k++) MUST(qz_create(&thread[k], "part", together, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
}

int main(void) {
  puts("ready");
  fflush(stdout);
  for (;;) round_trip();
}
