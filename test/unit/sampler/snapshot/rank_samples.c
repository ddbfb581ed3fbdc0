/* Of many ranks on one machine, each has samples of itself only: events of the CPUs would interrupt every rank once for
 * each of them. */
#include "sampler/linux/perf_samples.h"
#include "sampler/snapshot/samples/thread_tracker.h"

#include <stdlib.h>
#include <unistd.h>
#include "test/support/check.h"

/* -1: no samples; 1: of whatever runs on the CPUs. */
static int whole_with(const char *ranks) {
  struct qz_profile head = {.pid = (uint32_t)getpid(), .cpus = 1, .rate_mhz = 1000000};
  if (ranks) CHECK_IS(setenv("MPI_LOCALNRANKS", ranks, 1), 0);
  struct qzi_running *running = qzi_tracker_samples(&head, QZI_RUNNING_STACK);
  int whole = running ? qzi_running_whole(running) : -1;
  qzi_running_close(running);
  return whole;
}

int main(void) {
  unsetenv("MPI_LOCALNRANKS");
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  int alone = whole_with(NULL); /* events of the CPUs, where the user may have them */
  CHECK(alone >= 0);
  CHECK_IS(whole_with("2"), alone);
  CHECK_IS(whole_with("4"), alone);
  CHECK_IS(whole_with("5"), 0);
  CHECK_IS(whole_with("64"), 0);
  return 0;
}
