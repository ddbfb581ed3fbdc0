/* The pace of sleeps (sampler/snapshot/kernel/sleep_pace.h): looks at known times. */
#include "sampler/snapshot/kernel/sleep_pace.h"
#include "test/support/check.h"

#include <stdio.h>
#include <sys/syscall.h>

#define MS UINT64_C(1000000)

int main(void) {
  struct qzi_sleep_pace pace = {0};
  struct qz_thread_stats stats = {0};
  /* awake at 10 ms, asleep from 12 to 20 ms, awake at 22 ms: begun at 11, ended at 21 ms. The first end begins the
   * first interval. */
  qzi_sleep_pace_look(&pace, &stats, 0, 10 * MS);
  for (uint64_t at = 12; at <= 20; at += 2) qzi_sleep_pace_look(&pace, &stats, 7, at * MS);
  qzi_sleep_pace_look(&pace, &stats, 0, 22 * MS);
  CHECK(stats.sleeps == 0);
  /* asleep again from 30 to 36 ms; then in another sleep, without having been seen awake: ended, and begun, at 37 ms */
  qzi_sleep_pace_look(&pace, &stats, 0, 28 * MS);
  for (uint64_t at = 30; at <= 36; at += 2) qzi_sleep_pace_look(&pace, &stats, 8, at * MS);
  qzi_sleep_pace_look(&pace, &stats, 9, 38 * MS);
  CHECK(stats.sleeps == 1 && stats.interval_us == 16000 && stats.length_us == 8000);
  CHECK(stats.interval_us2 == UINT64_C(16000) * 16000 && stats.length_us2 == UINT64_C(8000) * 8000);
  qzi_sleep_pace_look(&pace, &stats, 0, 40 * MS);
  CHECK(stats.sleeps == 2 && stats.interval_us == 16000 + 2000 && stats.length_us == 8000 + 2000);
  CHECK(qzi_sleep_pace_is(SYS_clock_nanosleep) && !qzi_sleep_pace_is(SYS_read));
  puts("sleep_pace: passed");
}
