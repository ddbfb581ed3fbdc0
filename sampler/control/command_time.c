/* The time of the command. See command_time.h. */
#include "command_time.h"

#include <time.h>
#include "sampler/util/clock.h"

static uint64_t begun_ns;

/* The processor time until now is that of the dynamic linker, and of the shell script that became this program. */
void qzi_command_begins(void) {
  struct timespec used;
  begun_ns = qzi_clock_ns();
  if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
    begun_ns -= (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t qzi_command_before_ns(uint64_t launch_ns) { return launch_ns - begun_ns; }
