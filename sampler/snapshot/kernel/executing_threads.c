/* Chooses the threads of a snapshot that execute: those to which the kernel's count of their processor time is owed
 * (run_account.h), at most P. See kernel_view.h.
 *
 * Must not: count more than P threads as executing.
 */
#include "kernel_view.h"

/* For so many snapshots after a thread has ended, threads that no look saw are taken to be like it. */
#define LATELY 64u

static void report(struct qzi_kernel *kernel, struct qzi_seen *seen, struct qzi_counts *counts) {
  seen->executes = 1;
  if (seen->state == QZ_STATE_READY) seen->state = QZ_STATE_USEFUL;
  if (seen->state == QZ_STATE_SPINNING)
    counts->spinning++;
  else
    counts->useful++;
  if (seen->index == QZI_NOBODY) {
    struct qzi_run_account ended = {0};
    qzi_run_account_attribute(&kernel->accounts, &ended);
    return;
  }
  qzi_run_account_attribute(&kernel->accounts, &kernel->memos[seen->index].account);
  int spins = seen->state == QZ_STATE_SPINNING;
  uint32_t node = qzi_tracker_executed(kernel->tracker, seen->index, kernel->accounts.snapshot_ns, spins, &seen->kernel,
                                       &seen->instruction);
  if (node) seen->node = node;
}

static int64_t owed(const struct qzi_kernel *kernel, uint32_t place) {
  return kernel->memos[kernel->seen[place].index].account.owed_ns;
}

/* Threads that are seen to have a CPU come first, then those to which most is owed. */
static int comes_before(const struct qzi_kernel *kernel, uint32_t place, uint32_t other) {
  int has = kernel->seen[place].cpu == QZI_CPU_HAS, other_has = kernel->seen[other].cpu == QZI_CPU_HAS;
  return has != other_has ? has : owed(kernel, place) > owed(kernel, other);
}

/* A heap of places; the thread that comes first is on top. */
static void sift(const struct qzi_kernel *kernel, uint32_t count, uint32_t at) {
  uint32_t *order = kernel->order, place = order[at];
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before(kernel, order[child + 1], order[child])) child++;
    if (!comes_before(kernel, order[child], place)) break;
    order[at] = order[child];
  }
  order[at] = place;
}

/* Whether a runnable thread may count as executing. One that has no CPU does if the kernel counted much more for it
 * than was seen, or for all threads together. */
static int may_execute(const struct qzi_run_accounts *accounts, const struct qzi_run_account *account, int lacks_cpu) {
  if (lacks_cpu && !qzi_run_accounts_short(accounts)) return qzi_run_account_must(accounts, account);
  return qzi_run_account_may(accounts, account);
}

/* The maximum number of threads that execute at a time. */
static uint32_t places(const struct qzi_sampler *sampler) {
  uint32_t confined = sampler->kernel->confinement.cpus;
  return confined ? confined : sampler->view->processors;
}

/* Chooses among the runnable threads those that are seen to have a CPU, or if that is not known, those to which most
 * processor time is owed: they execute. (A thread that was woken or created and got no CPU since then does not.) */
void qzi_choose_runnable(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t candidates = 0, working = 0, processors = places(sampler);
  for (uint32_t k = 0; k < count; k++) {
    struct qzi_seen *seen = &kernel->seen[k];
    if (!qzi_is_runnable(seen) || seen->woken) continue;
    /* What it executed before it began to yield is like that of a thread that sleeps now. */
    if (seen->polls && qzi_tracker_has_worked(kernel->tracker, seen->index)) {
      seen->state = QZ_STATE_BLOCKED;
      counts->runnable--;
      continue;
    }
    kernel->order[candidates++] = k;
    working += !seen->polls;
  }
  uint64_t fair_ns =
    working > processors ? kernel->accounts.snapshot_ns * processors / working : kernel->accounts.snapshot_ns;
  for (uint32_t k = 0; k < candidates; k++)
    qzi_run_account_guess(&kernel->memos[kernel->seen[kernel->order[k]].index].account, fair_ns);
  for (uint32_t k = candidates / 2; k-- > 0;) sift(kernel, candidates, k);
  for (; candidates && counts->useful + counts->spinning < processors; sift(kernel, candidates, 0)) {
    struct qzi_seen *seen = &kernel->seen[kernel->order[0]];
    kernel->order[0] = kernel->order[--candidates];
    if (may_execute(&kernel->accounts, &kernel->memos[seen->index].account, seen->cpu == QZI_CPU_LACKS))
      report(kernel, seen, counts);
    if (!candidates) break;
  }
  if (!counts->first) return;
  for (uint32_t k = 0; k < count; k++)
    if (kernel->seen[k].executes && kernel->seen[k].state != QZ_STATE_SPINNING)
      qzi_run_account_seen(&kernel->memos[kernel->seen[k].index].account, counts->useful > 1);
}

/* Reports a thread as executing although it sleeps or has just been woken. */
static void report_instead(struct qzi_kernel *kernel, struct qzi_seen *seen, struct qzi_counts *counts) {
  counts->runnable += !qzi_is_runnable(seen);
  seen->instead = seen->state;
  seen->state = QZ_STATE_USEFUL;
  report(kernel, seen, counts);
}

/* Whether a sleeping thread may execute in this part. Threads that take turns ran at different times, though all of
 * that is in the time that the snapshot stands for. */
static int has_turn(struct qzi_kernel *kernel, struct qzi_seen *seen, const struct qzi_counts *counts) {
  if (!counts->useful) return 1;
  if (seen->turn == QZI_TURN_OPEN)
    seen->turn = qzi_run_account_beside(&kernel->memos[seen->index].account) ? QZI_TURN_BESIDE : QZI_TURN_ALONE;
  return seen->turn == QZI_TURN_BESIDE;
}

/* If more is owed to all sleeping threads together than the tolerance allows, though not enough to any single one,
 * chooses those to which most is owed. */
static void report_most_owed(struct qzi_kernel *kernel, uint32_t looked, uint32_t processors,
                             struct qzi_counts *counts) {
  while (counts->useful + counts->spinning < processors && qzi_run_accounts_short(&kernel->accounts)) {
    struct qzi_seen *most = NULL;
    int64_t most_ns = 0;
    for (uint32_t k = 0; k < looked; k++) {
      struct qzi_seen *seen = &kernel->seen[k];
      if (seen->executes || (qzi_is_runnable(seen) && !seen->woken) || owed(kernel, k) <= most_ns) continue;
      most = seen;
      most_ns = owed(kernel, k);
    }
    if (!most || (!has_turn(kernel, most, counts) && !qzi_run_accounts_pressed(&kernel->accounts))) return;
    report_instead(kernel, most, counts);
  }
}

/* The ended thread whose path gets the processor time of ended threads: the one to which most is owed. Time of theirs
 * that was never read is owed, too; the last snapshot divides it among them. If there is none, the time is that of
 * threads that no look saw: they are taken to be like the one that ended last, if one did lately, else like the one
 * that was seen last. */
static struct qzi_gone *gone_of(const struct qzi_sampler *sampler) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_gone *most = NULL;
  for (uint32_t k = 0; k < kernel->ended_count; k++)
    if (!most || kernel->ended[k].owed_ns > most->owed_ns) most = &kernel->ended[k];
  if (most && (most->owed_ns > 0 || kernel->accounts.last)) return most;
  int lately = kernel->past.entity && sampler->round - kernel->past_round <= LATELY;
  return lately ? &kernel->past : &kernel->gone;
}

/* Whether threads that no look saw may execute in this part: not beside a thread that looks see at work alone, except
 * as often as they see it beside others. Main does not work, for example, while it waits for the threads that it makes
 * in each round. */
static int unseen_have_turn(struct qzi_kernel *kernel, uint32_t looked, const struct qzi_counts *counts) {
  if (counts->useful != 1 || qzi_run_accounts_pressed(&kernel->accounts)) return 1;
  for (uint32_t k = 0; k < looked; k++)
    if (kernel->seen[k].executes && kernel->seen[k].state != QZ_STATE_SPINNING)
      return qzi_run_account_beside(&kernel->memos[kernel->seen[k].index].account);
  return 1;
}

/* Counts threads that sleep or have ended as executing if the kernel counted more processor time for them than
 * snapshots have seen; they are then counted among the runnable ones. */
uint32_t qzi_choose_others(struct qzi_sampler *sampler, uint32_t looked, struct qzi_counts *counts) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t processors = kernel->accounts.last ? sampler->view->processors : places(sampler), count = looked;
  /* Time left at the end was used by at most as many threads at once as exist or have just ended. */
  uint32_t threads = looked + (uint32_t)qzi_resting_count(kernel->resting) + kernel->ended_count;
  if (kernel->accounts.last && threads < processors) processors = threads ? threads : 1;
  int64_t owed_ns = qzi_resting_owed_ns(kernel->resting);
  for (uint32_t k = 0; k < looked; k++) {
    struct qzi_seen *seen = &kernel->seen[k];
    const struct qzi_run_account *account = &kernel->memos[seen->index].account;
    if (!seen->executes && !(qzi_is_runnable(seen) && !seen->woken) && counts->useful + counts->spinning < processors &&
        qzi_run_account_must(&kernel->accounts, account) && has_turn(kernel, seen, counts))
      report_instead(kernel, seen, counts);
    owed_ns += account->owed_ns;
  }
  while (counts->useful + counts->spinning < processors && qzi_run_accounts_must(&kernel->accounts, owed_ns) &&
         unseen_have_turn(kernel, looked, counts)) {
    struct qzi_gone *gone = gone_of(sampler);
    if (!gone->entity) break;
    struct qzi_seen *seen = &kernel->seen[count++];
    *seen = (struct qzi_seen){.look = {.node = gone->its.node, .entity = gone->entity},
                              .node = gone->its.node,
                              .index = QZI_NOBODY,
                              .state = QZ_STATE_USEFUL};
    uint32_t node =
      qzi_tracker_unseen(kernel->tracker, &gone->its, kernel->accounts.snapshot_ns, &seen->kernel, &seen->instruction);
    if (node) seen->look.node = seen->node = node;
    report(kernel, seen, counts);
    gone->owed_ns -= (int64_t)kernel->accounts.snapshot_ns;
    counts->runnable++;
  }
  report_most_owed(kernel, looked, processors, counts);
  return count;
}

/* CPUs are not distinguished here: the k-th was busy while at least k were. */
void qzi_note_processors(struct qzi_sampler *sampler, const struct qzi_counts *counts, uint64_t ns) {
  for (uint32_t p = 0; p < sampler->view->processors; p++) {
    struct qz_processor_stats *stats = &sampler->file->processors[p];
    sampler->visits[p].state = QZ_STATE_IDLE;
    *(p < counts->useful                      ? &stats->useful_ns
      : p < counts->useful + counts->spinning ? &stats->spinning_ns
                                              : &stats->idle_ns) += ns;
  }
}

/* Records which threads ran, for later questions of this snapshot about what happened at that time. */
void qzi_note_running(struct qzi_sampler *sampler, uint32_t count) {
  uint32_t p = 0;
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &sampler->kernel->seen[k];
    if (!seen->executes || seen->state == QZ_STATE_SPINNING) continue;
    struct qzi_visit *visit = &sampler->visits[p++];
    visit->state = QZ_STATE_USEFUL;
    visit->node = seen->node;
    visit->entity = seen->look.entity;
  }
}

void qzi_look_for_confined(struct qzi_sampler *sampler, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t count = 0;
  if (!qzi_confinement_due(&kernel->confinement, now_ns) || !qzi_file_count(sampler->file, QZ_SECTION_CPU_LIMITS))
    return;
  for (uint32_t k = 0; k < kernel->looked.count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    uint32_t tid = qzi_is_runnable(seen) ? QZ_LOAD(&qz_session_thread(sampler->view, seen->index)->os_tid) : 0;
    if (tid) kernel->order[count++] = tid;
  }
  qzi_confinement_look(&kernel->confinement, sampler->file->cpu_limits, kernel->order, count, sampler->view->processors,
                       now_ns);
}
