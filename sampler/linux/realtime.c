/* Real-time classes. See realtime.h. */
#include "realtime.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SCHED_DEADLINE, and struct sched_attr of the kernel: C libraries differ in whether they have it. */
#define DEADLINE      6
#define RESET_ON_FORK UINT64_C(1)
#define RUNTIME_NS    UINT64_C(1000000)
#define PERIOD_NS     UINT64_C(5000000)
struct attributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns, deadline_ns, period_ns;
};

unsigned qzi_realtime_of(pid_t tid) {
  struct sched_param its;
  int policy = sched_getscheduler(tid);
  if (policy < 0) return 0;
  policy &= ~SCHED_RESET_ON_FORK;
  if (policy == DEADLINE) return QZI_REALTIME_DEADLINE;
  if ((policy != SCHED_FIFO && policy != SCHED_RR) || sched_getparam(tid, &its)) return 0;
  return (unsigned)its.sched_priority;
}

int qzi_realtime_over(pid_t tid, unsigned priority) {
  struct sched_param higher = {.sched_priority = (int)priority + 1};
  if (priority < QZI_REALTIME_MOST) return sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &higher);
  struct attributes its = {.size = sizeof its,
                           .policy = DEADLINE,
                           .flags = RESET_ON_FORK,
                           .runtime_ns = RUNTIME_NS,
                           .deadline_ns = PERIOD_NS,
                           .period_ns = PERIOD_NS};
  return syscall(SYS_sched_setattr, tid, &its, 0) ? -1 : 0;
}
