/* The pace of sleeps. See sleep_pace.h. */
#include "sleep_pace.h"

#include <sys/syscall.h>

int qzi_sleep_pace_is(long call) {
#ifdef SYS_nanosleep
  if (call == SYS_nanosleep) return 1;
#endif
  return call == SYS_clock_nanosleep;
}

static void end(struct qzi_sleep_pace *pace, struct qz_thread_stats *stats, uint64_t at_ns) {
  if (pace->ended_ns) {
    uint64_t interval_us = (at_ns - pace->ended_ns) / 1000, length_us = (at_ns - pace->begun_ns) / 1000;
    stats->sleeps++;
    stats->interval_us += interval_us;
    stats->interval_us2 += interval_us * interval_us;
    stats->length_us += length_us;
    stats->length_us2 += length_us * length_us;
  }
  pace->ended_ns = at_ns;
}

void qzi_sleep_pace_look(struct qzi_sleep_pace *pace, struct qz_thread_stats *stats, uint64_t sleep, uint64_t now_ns) {
  uint64_t between_ns = pace->looked_ns ? pace->looked_ns + (now_ns - pace->looked_ns) / 2 : now_ns;
  if (pace->sleep && pace->sleep != sleep) end(pace, stats, between_ns);
  if (sleep && sleep != pace->sleep) pace->begun_ns = between_ns;
  pace->sleep = sleep;
  pace->looked_ns = now_ns;
}
