/* Works before it says how many processors it wants. Recorded without QUARTZ_PROCESSORS: three, in one recording that
 * has the time before, too. Prints when main began.
 *
 * expect P 3
 * expect manual
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void early(void) { work_sleep(100 * MS); }

PROCEDURE void *part(void *unused) {
  work_sleep(100 * MS);
  return unused;
}

int main(void) {
  printf("%llu\n", (unsigned long long)work_clock_ns());
  early();
  MUST(qz_init(&(qz_options){.processors = 3}));
  qz_thread_t thread[3];
  for (int k = 0; k < 3; k++) MUST(qz_create(&thread[k], "part", part, NULL));
  for (int k = 0; k < 3; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
