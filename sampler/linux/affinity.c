/* Affinity masks. See affinity.h. */
#include "affinity.h"

#include <sched.h>

unsigned qzi_affinity_count(int pid) {
  cpu_set_t *mask = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  unsigned count = 0;
  if (mask && !sched_getaffinity(pid, bytes, mask)) count = (unsigned)CPU_COUNT_S(bytes, mask);
  if (mask) CPU_FREE(mask);
  return count;
}

int qzi_affinity_pin(int cpu) {
  cpu_set_t *mask = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  if (!mask) return -1;
  CPU_ZERO_S(bytes, mask);
  if (cpu >= 0 && cpu < QZI_CPUS_MOST) CPU_SET_S(cpu, bytes, mask);
  int failed = sched_setaffinity(0, bytes, mask);
  CPU_FREE(mask);
  return failed;
}

int qzi_affinity_may(int cpu) {
  cpu_set_t *before = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  int exists = 1; /* if the kernel does not say whether the CPU exists, try it */
  if (before && !sched_getaffinity(0, bytes, before)) {
    exists = !qzi_affinity_pin(cpu);
    sched_setaffinity(0, bytes, before);
  }
  if (before) CPU_FREE(before);
  return exists;
}
