/* See sleep_cost.h. */
#include "sleep_cost.h"

#include <stdlib.h>
#include <time.h>
#include "sampler/util/clock.h"

#define SLEEPS      8u
#define ROUNDS      7u
#define PATIENCE_NS UINT64_C(5000000)

uint64_t qzi_sleeps_cpu_ns(unsigned count) {
  uint64_t begin_ns = qzi_thread_cpu_ns();
  for (unsigned k = 0; k < count; k++) nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
  return qzi_thread_cpu_ns() - begin_ns;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

uint64_t qzi_sleep_cost_ns(void) {
  uint64_t taken[ROUNDS], begin_ns = qzi_clock_ns();
  uint32_t count = 0;
  do taken[count] = qzi_sleeps_cpu_ns(SLEEPS);
  while (++count < ROUNDS && qzi_clock_ns() - begin_ns < PATIENCE_NS);
  qsort(taken, count, sizeof *taken, by_size);
  return taken[count / 2] / SLEEPS;
}
