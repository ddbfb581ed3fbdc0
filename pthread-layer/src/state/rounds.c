/* What rounds and steps cost that were measured. See rounds.h. */
#include "rounds.h"

void qzl_rounds_measured(struct qzl_rounds *rounds, uint64_t *sum_ns) {
  uint64_t ticks = rounds->ticks, step = rounds->typical / 8 + 1;
  uint32_t stands_for = rounds->number - rounds->measured;
  rounds->ticks = 0;
  rounds->measured = rounds->number;
  if (!rounds->typical)
    rounds->typical = ticks;
  else
    rounds->typical += ticks > rounds->typical ? step : -step;
  if (ticks > QZL_ROUNDS_MOST * rounds->typical) ticks = QZL_ROUNDS_MOST * rounds->typical;
  qzi_pub_store(sum_ns, *sum_ns + qzi_pub_ticks_ns(0, ticks) * stands_for);
}

void qzl_step_measured(struct qzl_rounds *steps, struct qz_path *actor, uint64_t since) {
  steps->ticks = qzi_pub_ticks() - since;
  if (actor) qzl_rounds_measured(steps, &actor->tasks_ns);
}

void qzl_thread_took(struct qz_path *actor, uint64_t since) {
  if (!actor || !since) return;
  uint64_t ns = qzi_pub_ticks_ns(since, qzi_pub_ticks());
  qzi_pub_store(&actor->tasks_ns, actor->tasks_ns + (ns < QZL_TOOK_MOST ? ns : QZL_TOOK_MOST));
}
