/* Choice of CPUs for sampling threads. See cpu_placement.h. */
#include "cpu_placement.h"
#include "sampler/linux/affinity.h"

#include <sched.h>
#include <string.h>

unsigned qzi_place_pinned(const struct qz_session_view *view) {
  cpu_set_t *mask = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  if (!mask) return 0;
  CPU_ZERO_S(bytes, mask);
  for (uint32_t p = 0; p < view->processors; p++) {
    uint32_t cpu = __atomic_load_n(&qz_session_processor(view, p)->cpu, __ATOMIC_RELAXED);
    if (cpu < QZI_CPUS_MOST) CPU_SET_S(cpu, bytes, mask);
  }
  unsigned count = (unsigned)CPU_COUNT_S(bytes, mask);
  CPU_FREE(mask);
  return count;
}

void qzi_place_find(struct qzi_place *place, const struct qz_session_view *view, int wanted) {
  memset(place, 0, sizeof *place);
  cpu_set_t *mask = CPU_ALLOC(QZI_CPUS_MOST), *used = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  if (mask && used && !sched_getaffinity(0, bytes, mask)) {
    CPU_ZERO_S(bytes, used);
    place->cpus = (unsigned)CPU_COUNT_S(bytes, mask);
    int shared = QZ_LOAD(&qz_session_head(view)->flags) & QZ_SESSION_SHARED;
    place->spare = place->cpus > view->processors && !shared ? place->cpus - view->processors : 0;
    for (uint32_t p = 0; p < view->processors; p++) {
      uint32_t cpu = __atomic_load_n(&qz_session_processor(view, p)->cpu, __ATOMIC_RELAXED);
      if (cpu < QZI_CPUS_MOST) CPU_SET_S(cpu, bytes, used);
    }
    unsigned most = place->spare < 64 ? place->spare : 64;
    if (wanted >= 0) {
      place->chosen[place->count++] = wanted;
      place->spins = place->spare > 0 && wanted < QZI_CPUS_MOST && !CPU_ISSET_S(wanted, bytes, used);
    }
    for (int cpu = QZI_CPUS_MOST - 1; cpu >= 0 && place->count < most; cpu--)
      if (cpu != wanted && CPU_ISSET_S(cpu, bytes, mask) && !CPU_ISSET_S(cpu, bytes, used))
        place->chosen[place->count++] = cpu;
    if (wanted < 0) place->spins = place->count > 0;
  }
  if (mask) CPU_FREE(mask);
  if (used) CPU_FREE(used);
}
