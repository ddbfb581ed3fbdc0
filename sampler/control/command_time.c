/* The time of the command. See command_time.h. */
#include "command_time.h"

#include "sampler/util/clock.h"

static uint64_t begun_ns;

void qzi_command_begins(void) { begun_ns = qzi_clock_ns(); }

/* The processor time until main() is that of the dynamic linker, and of the shell script that became this program. */
void qzi_command_add_start(void) {
  uint64_t since_ns = qzi_clock_ns() - begun_ns, used_ns = qzi_thread_cpu_ns(); /* it has no other thread yet */
  if (used_ns > since_ns) begun_ns -= used_ns - since_ns;
}

uint64_t qzi_command_before_ns(uint64_t launch_ns) { return launch_ns - begun_ns; }
