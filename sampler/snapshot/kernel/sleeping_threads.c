/* Sleeping threads: which of them rest, and which were woken. See kernel_view.h. */
#include "kernel_view.h"

/* number of threads whose records say that they wait, about which the kernel is asked in a snapshot, in turn */
#define WOKEN_LEAST 4u
#define WOKEN_MANY  1000u /* with this many, only one, because not all their files can be kept open */
#define WOKEN_FOUND 4u    /* additional threads for each that is found woken */
#define WOKEN_MOST  32u   /* maximum number in all */
#define WOKEN_LOOKS 1024u /* number of records examined to find them */

/* ---- threads that rest ---- */

uint8_t qzi_waiting_of(const struct qzi_sampler *sampler, const struct qzi_seen *seen) {
  uint8_t waiting = seen->woken ? QZ_WAITING_WOKEN : QZ_WAITING_OBJECT;
  return !seen->instead && qzi_waits_at_top(sampler, seen->node, seen->object) ? waiting : 0;
}

/* Whether no more is owed to it than is reported for a sleeping thread at the end (run_account.h). */
static int paid(const struct qzi_kernel *kernel, const struct qzi_kernel_memo *memo) {
  return memo->account.known && memo->account.owed_ns <= (int64_t)kernel->accounts.snapshot_ns / 2;
}

/* Lets threads rest that sleep, were reported in full, and hold no lock that others may wait for. */
void qzi_let_rest(struct qzi_sampler *sampler, uint32_t looked, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  if (!qzi_resting_due(kernel->resting, now_ns)) return;
  qzi_resting_settle(sampler, kernel->resting, now_ns);
  for (uint32_t k = 0; k < looked; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    struct qzi_kernel_memo *memo = &kernel->memos[seen->index];
    int sleeps = seen->state == QZ_STATE_BLOCKED || seen->state == QZ_STATE_IO;
    if (!sleeps || seen->woken || seen->polls || seen->instead || seen->look.torn || !paid(kernel, memo)) continue;
    if (!seen->waits && !memo->task.call.known) continue;
    if (qzi_holders_any(sampler, sampler->holders, seen->look.node, seen->outside ? 0 : seen->object)) continue;
    struct qzi_tuple_key key = {.stack = seen->look.node,
                                .thread = seen->look.entity,
                                .state = seen->state,
                                .waiting = qzi_waiting_of(sampler, seen)};
    memo->rests_waiting = seen->waits;
    qzi_resting_rest(sampler, kernel->resting, seen->index, &key, seen->waits, seen->outside ? seen->object : 0,
                     memo->account.owed_ns);
  }
}

/* ---- woken threads ---- */

/* Asks the kernel about threads whose records say that they wait: a runnable one was woken, and waits for a CPU. If
 * there are many, some are asked about in turn, and more after some were found woken; such a thread counts as woken
 * until its record changes. `runnable`: number of threads known to be runnable; if nothing else on the machine is
 * runnable except the sampler, no thread was woken. Appends those that rested to `seen`, which has *count entries. */
uint32_t qzi_find_woken(struct qzi_sampler *sampler, uint32_t high, uint32_t *count, uint32_t waiting,
                        uint32_t runnable, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t asked = 0, may_ask = waiting < WOKEN_MANY ? WOKEN_LEAST : 1, woken = 0,
           looks = high < WOKEN_LOOKS ? high : WOKEN_LOOKS;
  if (!waiting || qzi_ask_machine(&kernel->asker) <= runnable + 1) return 0;
  for (uint32_t n = 0, index = kernel->woken_cursor; n < looks && asked < may_ask; n++, index++) {
    if (index >= high) index = 0;
    struct qzi_kernel_memo *memo = &kernel->memos[index];
    const struct qzi_tuple_key *resting = qzi_resting_as(kernel->resting, index);
    if (resting ? !memo->rests_waiting : memo->round != sampler->round || !kernel->seen[memo->place].waits) continue;
    uint64_t word = sampler->in.memos[index].word;
    uint32_t tid = QZ_LOAD(&qz_session_thread(sampler->view, index)->os_tid);
    memo->woken = qzi_ask_runnable(&kernel->asker, &memo->task, tid) ? word : 0;
    asked++;
    kernel->woken_cursor = index + 1;
    if (!memo->woken) continue;
    if ((may_ask += WOKEN_FOUND) > WOKEN_MOST) may_ask = WOKEN_MOST;
    if (!resting) continue;
    qzi_resting_wake(sampler, kernel->resting, index);
    qzi_kernel_look(sampler, index, 0, 0, now_ns, &kernel->seen[*count]);
    *count += kernel->seen[*count].state != QZ_STATE_IDLE;
  }
  for (uint32_t k = 0; k < *count; k++) {
    struct qzi_seen *seen = &kernel->seen[k];
    if (!seen->waits) continue;
    const struct qzi_kernel_memo *memo = &kernel->memos[seen->index];
    if (!memo->woken || memo->woken != sampler->in.memos[seen->index].word) continue;
    seen->woken = 1;
    seen->state = QZ_STATE_READY;
    woken++;
  }
  return woken;
}

/* Checks a resting thread when its turn comes. Returns 1 if it still rests; 0 if it does not, and is in *seen. */
int qzi_still_rests(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                    struct qzi_seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qzi_tuple_key *as = qzi_resting_as(kernel->resting, index);
  qzi_thread_overflows(sampler, index);
  qzi_kernel_look(sampler, index, may_ask, may_read, now_ns, seen);
  qzi_resting_owe(kernel->resting, index, kernel->memos[index].account.owed_ns);
  if (seen->state == as->state && seen->look.node == as->stack && seen->look.entity == as->thread &&
      qzi_waiting_of(sampler, seen) == as->waiting && !seen->look.torn && paid(kernel, &kernel->memos[index]))
    return 1;
  qzi_resting_wake(sampler, kernel->resting, index);
  return 0;
}
