/* Which runnable threads have a CPU, where there are more of them than CPUs that the program gets. See kernel_view.h.
 *
 * Threads that wait for a CPU stand where they lost one: seldom in code that holds a lock, since others that need the
 * lock cannot go on, so that who holds it soon has a CPU again. If the processor time that a thread had before were
 * charged to where it stands, locks would seem to be held for too short a time. The kernel counts how often a thread
 * was given a CPU, and how often it left one; they differ by one while it has a CPU. (Where threads hold no locks, it
 * does not matter where they lose their CPUs: their paths are those of samples, which are taken while they execute.)
 */
#include "kernel_view.h"

#include "sampler/util/clock.h"

#include <sched.h>

/* Runnable threads that are asked about; of more of them, some are always where they work. None is asked about where
 * that would take longer than ALL_NS (a question takes 3 us on one machine, 14 on another): snapshots would become so
 * expensive, and so rare, that they show less. */
#define MOST    64u
#define ALL_NS  UINT64_C(100000)
#define EACH_NS UINT64_C(20000) /* a question that takes longer was interrupted */
#define LATELY  256u            /* snapshots without a thread that holds a lock, after which none is asked about */

/* Whether more threads are runnable than CPUs execute. */
static int is_short_of_cpus(const struct qzi_kernel *kernel, uint32_t runnable) {
  return runnable >= 2 && runnable > qzi_run_accounts_cpus(&kernel->accounts) + 0.25;
}

/* The sampler itself took this CPU. From which thread: of those that lack a CPU, were on this one last, and ran since
 * they were asked about, the one to which most is owed. */
static void give_back(struct qzi_sampler *sampler, const uint8_t *ran, uint32_t runnable) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_seen *most = NULL;
  int own = sched_getcpu();
  for (uint32_t k = 0; k < runnable; k++) {
    struct qzi_seen *seen = &kernel->seen[kernel->order[k]];
    struct qzi_kernel_memo *memo = &kernel->memos[seen->index];
    if (seen->cpu != QZI_CPU_LACKS || !ran[k] || qzi_ask_last_cpu(&kernel->asker, &memo->task, memo->task.tid) != own)
      continue;
    if (!most || memo->account.owed_ns > kernel->memos[most->index].account.owed_ns) most = seen;
  }
  if (most) most->cpu = QZI_CPU_HAS;
}

void qzi_look_on_cpus(struct qzi_sampler *sampler, uint32_t count) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t runnable = 0;
  uint8_t ran[MOST];
  kernel->accounts.shown_ns = 0;
  if (kernel->accounts.last) return; /* what is left is divided, wherever the threads are */
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    if (!qzi_is_runnable(seen) || seen->woken || seen->polls || !kernel->memos[seen->index].task.tid) continue;
    if (runnable == MOST) return;
    kernel->order[runnable++] = k;
    if (qzi_holders_any(sampler, sampler->holders, seen->look.node, 0)) kernel->locked_round = sampler->round;
  }
  int locked = kernel->locked_round && sampler->round - kernel->locked_round <= LATELY;
  if (!locked || !is_short_of_cpus(kernel, runnable) || runnable * kernel->on_cpu_ns > ALL_NS) return;
  uint64_t begin_ns = qzi_clock_ns();
  for (uint32_t k = 0; k < runnable; k++) {
    struct qzi_seen *seen = &kernel->seen[kernel->order[k]];
    struct qzi_kernel_memo *memo = &kernel->memos[seen->index];
    int has = qzi_ask_on_cpu(&kernel->asker, &memo->task, memo->task.tid);
    seen->cpu = has < 0 ? QZI_CPU_UNKNOWN : has ? QZI_CPU_HAS : QZI_CPU_LACKS;
    ran[k] = memo->task.count.run_ns != memo->ran_ns;
    memo->ran_ns = memo->task.count.run_ns;
    if (has >= 0) kernel->accounts.shown_ns = kernel->whole_ns;
  }
  uint64_t each_ns = (qzi_clock_ns() - begin_ns) / runnable;
  if (each_ns > EACH_NS) each_ns = EACH_NS;
  kernel->on_cpu_ns = kernel->on_cpu_ns ? (kernel->on_cpu_ns * 7 + each_ns) / 8 : each_ns;
  give_back(sampler, ran, runnable);
  for (uint32_t k = 0; k < runnable; k++) {
    const struct qzi_seen *seen = &kernel->seen[kernel->order[k]];
    if (seen->cpu) qzi_tracker_on_cpu(kernel->tracker, seen->index, seen->cpu == QZI_CPU_HAS);
  }
}
