/* The times that a run took. See account.h. */
#include "account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

static uint64_t ns_of(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

void qzi_account(int fd, pid_t child, uint64_t begin_ns, uint64_t end_ns, struct rusage *used) {
  struct rusage its = {0};
  while (wait4(child, NULL, 0, &its) < 0 && errno == EINTR) {}
  if (fd >= 0)
    dprintf(fd, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", end_ns - begin_ns, ns_of(its.ru_utime), ns_of(its.ru_stime));
  if (used) *used = its;
}
