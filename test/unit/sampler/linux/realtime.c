/* Real-time classes: what a thread has, and how a thread gets CPUs before it. */
#include "sampler/linux/realtime.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "test/support/check.h"

static int policy(void) { return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

int main(void) {
  CHECK(qzi_realtime_of(getpid()) == 0);
  CHECK(qzi_realtime_of(0x7ffffffe) == 0); /* there is no such thread */
  if (qzi_realtime_over(0, 4)) {
    printf("skipped: this user may not have real-time priority\n");
    return 77;
  }
  CHECK(policy() == SCHED_FIFO && qzi_realtime_of(getpid()) == 5);
  CHECK(!qzi_realtime_over(0, 98));
  CHECK(policy() == SCHED_FIFO && qzi_realtime_of(getpid()) == 99);
  /* There is no higher priority: the class that comes before all of them, if the kernel has capacity for it. */
  if (!qzi_realtime_over(0, 99)) CHECK(qzi_realtime_of(getpid()) == QZI_REALTIME_DEADLINE);
  return 0;
}
