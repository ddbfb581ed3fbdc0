/* Choice of CPUs for sampling threads. See cpu_placement.h. */
#include "cpu_placement.h"

#include <sched.h>
#include <string.h>

unsigned qzi_place_cpus(int pid) {
  cpu_set_t *mask = CPU_ALLOC(QZI_PLACE_CPUS);
  size_t bytes = CPU_ALLOC_SIZE(QZI_PLACE_CPUS);
  unsigned count = 0;
  if (mask && !sched_getaffinity(pid, bytes, mask)) count = (unsigned)CPU_COUNT_S(bytes, mask);
  if (mask) CPU_FREE(mask);
  return count;
}

unsigned qzi_place_pinned(const struct qz_session_view *view) {
  cpu_set_t *mask = CPU_ALLOC(QZI_PLACE_CPUS);
  size_t bytes = CPU_ALLOC_SIZE(QZI_PLACE_CPUS);
  if (!mask) return 0;
  CPU_ZERO_S(bytes, mask);
  for (uint32_t p = 0; p < view->processors; p++) {
    uint32_t cpu = __atomic_load_n(&qz_session_processor(view, p)->cpu, __ATOMIC_RELAXED);
    if (cpu < QZI_PLACE_CPUS) CPU_SET_S(cpu, bytes, mask);
  }
  unsigned count = (unsigned)CPU_COUNT_S(bytes, mask);
  CPU_FREE(mask);
  return count;
}

void qzi_place_find(struct qzi_place *place, const struct qz_session_view *view, int wanted) {
  memset(place, 0, sizeof *place);
  cpu_set_t *mask = CPU_ALLOC(QZI_PLACE_CPUS), *used = CPU_ALLOC(QZI_PLACE_CPUS);
  size_t bytes = CPU_ALLOC_SIZE(QZI_PLACE_CPUS);
  if (mask && used && !sched_getaffinity(0, bytes, mask)) {
    CPU_ZERO_S(bytes, used);
    place->cpus = (unsigned)CPU_COUNT_S(bytes, mask);
    place->spare = place->cpus > view->processors ? place->cpus - view->processors : 0;
    for (uint32_t p = 0; p < view->processors; p++) {
      uint32_t cpu = __atomic_load_n(&qz_session_processor(view, p)->cpu, __ATOMIC_RELAXED);
      if (cpu < QZI_PLACE_CPUS) CPU_SET_S(cpu, bytes, used);
    }
    unsigned most = place->spare < 64 ? place->spare : 64;
    if (wanted >= 0) {
      place->chosen[place->count++] = wanted;
      place->spins = place->spare > 0 && wanted < QZI_PLACE_CPUS && !CPU_ISSET_S(wanted, bytes, used);
    }
    for (int cpu = QZI_PLACE_CPUS - 1; cpu >= 0 && place->count < most; cpu--)
      if (cpu != wanted && CPU_ISSET_S(cpu, bytes, mask) && !CPU_ISSET_S(cpu, bytes, used))
        place->chosen[place->count++] = cpu;
    if (wanted < 0) place->spins = place->count > 0;
  }
  if (mask) CPU_FREE(mask);
  if (used) CPU_FREE(used);
}

int qzi_place_pin(int cpu) {
  cpu_set_t *mask = CPU_ALLOC(QZI_PLACE_CPUS);
  size_t bytes = CPU_ALLOC_SIZE(QZI_PLACE_CPUS);
  if (!mask) return -1;
  CPU_ZERO_S(bytes, mask);
  if (cpu >= 0 && cpu < QZI_PLACE_CPUS) CPU_SET_S(cpu, bytes, mask);
  int failed = sched_setaffinity(0, bytes, mask);
  CPU_FREE(mask);
  return failed;
}

int qzi_place_exists(int cpu) {
  cpu_set_t *before = CPU_ALLOC(QZI_PLACE_CPUS);
  size_t bytes = CPU_ALLOC_SIZE(QZI_PLACE_CPUS);
  int exists = 1; /* where nothing can be found out, the sampler tries */
  if (before && !sched_getaffinity(0, bytes, before)) {
    exists = !qzi_place_pin(cpu);
    sched_setaffinity(0, bytes, before);
  }
  if (before) CPU_FREE(before);
  return exists;
}
