/* Affinity masks. See affinity.h. */
#include "affinity.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

int qzi_affinity_of_threads(uint32_t pid, uint32_t expected, cpu_set_t *cpus, size_t bytes) {
  char name[64];
  cpu_set_t *its = CPU_ALLOC(QZI_CPUS_MOST);
  int failed = !its || sched_getaffinity((pid_t)pid, bytes, cpus);
  snprintf(name, sizeof name, "/proc/%u/task", pid);
  DIR *tasks = failed || (uint32_t)CPU_COUNT_S(bytes, cpus) >= expected ? NULL : opendir(name);
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
    pid_t tid = (pid_t)strtoul(entry->d_name, NULL, 10);
    if (tid && !sched_getaffinity(tid, bytes, its)) CPU_OR_S(bytes, cpus, cpus, its);
  }
  if (tasks) closedir(tasks);
  /* The program was allowed more CPUs when it began: add those of the process that launched it. */
  if (!failed && (uint32_t)CPU_COUNT_S(bytes, cpus) < expected && !sched_getaffinity(getpid(), bytes, its))
    CPU_OR_S(bytes, cpus, cpus, its);
  if (its) CPU_FREE(its);
  return failed ? -1 : 0;
}
