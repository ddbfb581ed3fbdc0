/* See budget.h. */
#include "budget.h"

#define COST         64u              /* snapshots may use one part in so many of a CPU beyond the bare wake-ups, */
#define LEFT_LEAST   0.5              /* of which samples of running threads leave at least this part; */
#define MANY         500u             /* with this many threads a half of that, with twice as many a third, */
#define MANY_MOST    4u               /* at least a quarter; */
#define WAKE_COST    50u              /* wake-ups 1 / 50. */
#define RANKED       3 / 2            /* longer intervals of ranks: two thirds of both budgets */
#define WAKE_MOST_NS UINT64_C(100000) /* longer ones were interrupted by something else */
#define SLOWER_MOST  50u              /* maximum lengthening of the interval */

void qzi_budget_begin(struct qzi_budget *budget, const struct qzi_spent *spent, int ranked) {
  *budget = (struct qzi_budget){.last = *spent, .ranked = ranked};
}

void qzi_budget_woke(struct qzi_budget *budget, uint64_t ns) {
  if (ns < WAKE_MOST_NS) budget->wake_ns = budget->wake_ns ? (budget->wake_ns * 7 + ns) / 8 : ns;
}

uint64_t qzi_budget_interval(struct qzi_budget *budget, const struct qzi_spent *spent, uint64_t base_ns,
                             uint64_t now_ns, uint64_t threads) {
  uint64_t samples_ns = spent->samples_ns - budget->last.samples_ns,
           others_ns = spent->apart_ns - budget->last.apart_ns + samples_ns,
           cpu_ns = spent->cpu_ns - budget->last.cpu_ns,
           cost_ns = cpu_ns > others_ns ? cpu_ns - others_ns : 0, /* others' time may include time without a CPU */
    elapsed_ns = spent->clock_ns - budget->last.clock_ns, count = spent->snapshots - budget->last.snapshots;
  budget->last = *spent;
  if (!budget->looks++) return 0; /* the first look includes one-time work */
  budget->cost_ns = budget->cost_ns * 3 / 4 + cost_ns;
  budget->count = budget->count * 3 / 4 + count * 4;
  budget->samples_ns = budget->samples_ns * 3 / 4 + samples_ns;
  budget->elapsed_ns = budget->elapsed_ns * 3 / 4 + elapsed_ns;
  if (!budget->count) return 0;
  uint64_t each_ns = budget->cost_ns * 4 / budget->count,
           own_ns = each_ns > budget->wake_ns ? each_ns - budget->wake_ns : 0;
  if (threads > MANY * (MANY_MOST - 1)) threads = MANY * (MANY_MOST - 1);
  double left = budget->elapsed_ns ? 1 - (double)COST * (double)budget->samples_ns / (double)budget->elapsed_ns : 1;
  if (left < LEFT_LEAST) left = LEFT_LEAST;
  uint64_t next_ns = (uint64_t)((double)(own_ns * COST * (MANY + threads) / MANY) / left);
  if (next_ns < budget->wake_ns * WAKE_COST) next_ns = budget->wake_ns * WAKE_COST;
  if (budget->ranked) next_ns = next_ns * RANKED;
  if (next_ns < base_ns) next_ns = base_ns;
  if (next_ns > SLOWER_MOST * base_ns) next_ns = SLOWER_MOST * base_ns;
  int longer = now_ns == base_ns ? next_ns * 5 > now_ns * 7 : next_ns * 10 > now_ns * 11;
  return longer || next_ns * 4 < now_ns * 3 ? next_ns : 0;
}
