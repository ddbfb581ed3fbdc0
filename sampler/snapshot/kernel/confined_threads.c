/* Confined threads. See confined_threads.h. */
#include "confined_threads.h"

#include <sched.h>
#include "sampler/linux/affinity.h"

#define LOOK_NS UINT64_C(10000000) /* least interval of looks, */
#define EACH_NS UINT64_C(200000)   /* and for each system call of a look: some 0.2 % of a CPU */

int qzi_confinement_due(const struct qzi_confinement *confinement, uint64_t now_ns) {
  return now_ns >= confinement->due_ns;
}

/* Number of CPUs that the threads may use together; no more than `enough` are counted. 0: unknown. *looked: number of
 * threads that were looked at. */
static uint32_t together(const uint32_t *tids, uint32_t count, uint32_t enough, uint32_t *looked) {
  cpu_set_t *all = CPU_ALLOC(QZI_CPUS_MOST), *its = CPU_ALLOC(QZI_CPUS_MOST);
  size_t bytes = CPU_ALLOC_SIZE(QZI_CPUS_MOST);
  uint32_t cpus = 0;
  if (all && its) {
    CPU_ZERO_S(bytes, all);
    for (uint32_t k = 0; k < count && cpus < enough; k++) {
      *looked = k + 1;
      if (sched_getaffinity((pid_t)tids[k], bytes, its)) continue; /* it has ended */
      CPU_OR_S(bytes, all, all, its);
      cpus = (uint32_t)CPU_COUNT_S(bytes, all);
    }
  }
  if (all) CPU_FREE(all);
  if (its) CPU_FREE(its);
  return cpus < enough ? cpus : enough;
}

void qzi_confinement_look(struct qzi_confinement *confinement, struct qz_cpu_limits *row, const uint32_t *tids,
                          uint32_t count, uint32_t processors, uint64_t now_ns) {
  uint64_t before_ns = confinement->looked_ns, ns = before_ns ? now_ns - before_ns : LOOK_NS;
  uint64_t expected_ns = before_ns ? confinement->due_ns - before_ns : LOOK_NS;
  uint32_t wanted = count < processors ? count : processors, looked = 0, cpus = 0;
  if (ns > 2 * expected_ns) ns = 2 * expected_ns; /* nobody knows what was in between */
  if (wanted >= 2) cpus = together(tids, count, wanted, &looked);
  confinement->looked_ns = now_ns;
  confinement->due_ns = now_ns + (looked * EACH_NS > LOOK_NS ? looked * EACH_NS : LOOK_NS);
  confinement->cpus = cpus < wanted ? cpus : 0;
  if (!confinement->cpus) return;
  row->confined_ns += ns;
  row->confined_saving_ns += ns * (wanted - cpus) / wanted;
  row->confined_wait_ns += ns * (count - cpus);
  if (!row->fewest || cpus < row->fewest) row->fewest = cpus;
}
