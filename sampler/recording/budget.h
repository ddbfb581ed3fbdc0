/* What snapshots may cost on a CPU that the program uses as well: expensive ones (of thousands of threads) are taken
 * less often. Their cost beyond a wake-up has one budget, wake-ups have another. Samples of running threads share the
 * first one, of which they leave at least half: they depend on the program's processor time, not on the number of
 * snapshots. The length of an interval depends on these costs, not on what is observed, and each snapshot stands for
 * its own interval, so there is no bias.
 *
 * Owns:    struct qzi_budget. Writer and reader: the first sampling thread.
 * Must not: be used where a rate was requested, or where the sampler has a CPU to itself.
 */
#ifndef QZI_BUDGET_H
#define QZI_BUDGET_H

#include <stdint.h>

/* At clock_ns: CPU time of the sampling thread in ns, the parts of it that have budgets of their own, and that take
 * samples, and the number of snapshots. */
struct qzi_spent {
  uint64_t clock_ns, cpu_ns, apart_ns, samples_ns, snapshots;
};
struct qzi_budget {
  struct qzi_spent last;           /* at the last look */
  uint64_t cost_ns, count;         /* recent snapshots: CPU time without those parts, and four times their number */
  uint64_t samples_ns, elapsed_ns; /* recent samples: CPU time, and in which time */
  uint64_t wake_ns;                /* CPU time of a wake-up alone */
  unsigned looks;
  int ranked; /* 1: a rank of an MPI program, which often has one CPU: two thirds of both budgets */
};

void qzi_budget_begin(struct qzi_budget *budget, const struct qzi_spent *spent, int ranked);
/* A wake-up took this CPU time. */
void qzi_budget_woke(struct qzi_budget *budget, uint64_t ns);
/* The interval to continue with; 0: the present one, now_ns. base_ns: that of the default rate, the shortest one.
 * threads: that every snapshot visits, in addition to processors. To be called once in a while. */
uint64_t qzi_budget_interval(struct qzi_budget *budget, const struct qzi_spent *spent, uint64_t base_ns,
                             uint64_t now_ns, uint64_t threads);

#endif
