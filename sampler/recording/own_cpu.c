/* Where a sampling thread runs that sleeps. See own_cpu.h. */
#include "own_cpu.h"

#define LOOK_NS   UINT64_C(8000000)
#define RECENT_NS UINT64_C(16000000) /* several samples of a thread that computes */

void qzi_own_cpu_begin(struct qzi_own_cpu *own, int may) {
  if (own->follows) sched_setaffinity(0, sizeof own->allowed, &own->allowed); /* where it was moved is not its mask */
  *own = (struct qzi_own_cpu){0};
  own->follows = may && !sched_getaffinity(0, sizeof own->allowed, &own->allowed) && CPU_COUNT(&own->allowed) > 1;
  own->chosen = own->allowed;
}

void qzi_own_cpu_choose(cpu_set_t *chosen, const cpu_set_t *allowed, const struct qzi_used_cpus *used,
                        uint64_t since_ns, uint32_t runnable) {
  *chosen = *allowed;
  if (runnable >= (uint32_t)CPU_COUNT(allowed)) return;
  for (unsigned cpu = 0; cpu < QZI_USED_CPUS; cpu++)
    if (used->seen_ns[cpu] && used->seen_ns[cpu] >= since_ns) CPU_CLR(cpu, chosen);
  if (!CPU_COUNT(chosen)) *chosen = *allowed;
}

void qzi_own_cpu_look(struct qzi_own_cpu *own, const struct qzi_used_cpus *used, uint32_t runnable, uint64_t now_ns) {
  cpu_set_t chosen;
  if (!own->follows || now_ns < own->look_ns) return;
  own->look_ns = now_ns + LOOK_NS;
  qzi_own_cpu_choose(&chosen, &own->allowed, used, now_ns > RECENT_NS ? now_ns - RECENT_NS : 0, runnable);
  if (CPU_EQUAL(&chosen, &own->chosen)) return;
  own->follows = !sched_setaffinity(0, sizeof chosen, &chosen); /* not with class SCHED_DEADLINE */
  own->chosen = chosen;
}
