/* Snapshots of programs whose threads are kernel threads (QZ_PUBLISHER_PTHREAD): every live thread record is visited;
 * the kernel is asked which of the threads with useful work are asleep, and which of the waiting ones are runnable. See
 * snapshot.h; the steps are in kernel_view.h.
 *
 * Owns:    the current snapshot.
 * Writer and reader: the aggregating thread.
 *
 * Of the runnable threads, those execute to which the kernel's count of their processor time is owed (run_account.h),
 * at most P: b of them useful, s spinning. The others are ready: they wait for a CPU. So are those that were woken or
 * created, and have not run since. A sleeping thread to which more is owed than looks have seen executes on its last
 * path. (docs/reference/metrics.md, sections 1, 5 and 6)
 */
#include "kernel_view.h"

#include <stdlib.h>
#include "sampler/snapshot/blame.h"
#include "sampler/snapshot/sync_objects.h"
#include "sampler/outside/objects.h"
#include "sampler/profile/external_objects.h"
#include "sampler/util/lazy_memory.h"

#define AHEAD        4u /* threads prefetched */
/* A snapshot with a greater weight is divided into parts, and the executing threads are chosen for each part. */
#define PART_NS      UINT64_C(2000000)
/* Maximum number of threads, summed over all parts, because each part costs time for each thread: with thousands of
 * threads a snapshot has one part. */
#define PARTS_OF     1024u
/* ns: if a snapshot is late, that maximum is one thread for each such interval; adding a thread takes about 100 ns. */
#define PARTS_EACH   UINT64_C(10000)
#define LAST_NS      UINT64_C(100000) /* longest part of the last snapshot, which attributes all that is owed */
#define READ_RESTING 1u /* resting threads of which the account is read in a snapshot (resting_threads.h) */
#define READ_LEAST   4u /* and resting threads, in turn, about which the kernel is also asked whether they were woken */

static int kernel_open(struct qzi_sampler *sampler) {
  const struct qz_session_view *view = sampler->view;
  struct qzi_kernel *kernel = sampler->kernel = calloc(1, sizeof *kernel);
  if (!kernel) return -1;
  kernel->memos_bytes = (size_t)view->thread_table.capacity * sizeof *kernel->memos;
  qzi_asker_open(&kernel->asker, sampler->file->head);
  qzi_run_accounts_open(&kernel->accounts, view->pid, view->processors);
  kernel->memos = qzi_lazy_memory(kernel->memos_bytes);
  kernel->tracker = qzi_tracker_open(sampler);
  kernel->resting = qzi_resting_open(view);
  sampler->asked = qzi_lazy_memory(view->object_table.capacity * sizeof *sampler->asked);
  return kernel->memos && kernel->tracker && kernel->resting && sampler->asked ? 0 : -1;
}

static void kernel_close(struct qzi_sampler *sampler) {
  struct qzi_kernel *kernel = sampler->kernel;
  if (!kernel) return;
  for (size_t k = 0; kernel->memos && kernel->asker.open && k < kernel->memos_bytes / sizeof *kernel->memos; k++)
    qzi_task_state_close(&kernel->asker, &kernel->memos[k].task);
  qzi_asker_close(&kernel->asker);
  qzi_tracker_close(kernel->tracker);
  qzi_resting_close(kernel->resting);
  qzi_lazy_free(kernel->memos, kernel->memos_bytes);
  free(kernel->seen);
  free(kernel->order);
  free(kernel);
}

/* Time for which the program's threads ran then is not reported. */
static void kernel_skip(struct qzi_sampler *sampler) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint64_t attributed_ns = kernel->accounts.attributed_ns, run_ns = kernel->accounts.run_ns;
  qzi_run_accounts_open(&kernel->accounts, kernel->accounts.pid, kernel->accounts.processors);
  kernel->accounts.base_ns -= run_ns;
  kernel->accounts.run_ns = run_ns;
  kernel->accounts.attributed_ns = attributed_ns;
  kernel->epoch++;
  kernel->looked.until_ns = 0;
}

static void kernel_prepare(struct qzi_sampler *sampler) { qzi_tracker_prepare(sampler->kernel->tracker); }
static void kernel_start(struct qzi_sampler *sampler) { qzi_tracker_start(sampler->kernel->tracker); }

/* ---- looking ---- */

/* Prefetches what qzi_kernel_look() reads first of a thread: with thousands of threads it is in no cache. */
static void fetch(const struct qzi_sampler *sampler, uint32_t index) {
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  __builtin_prefetch(thread);
  __builtin_prefetch(&thread->word);
  __builtin_prefetch(&sampler->in.memos[index]);
  __builtin_prefetch(&sampler->kernel->memos[index]);
  __builtin_prefetch(&sampler->kernel->memos[index].task);
  qzi_tracker_fetch(sampler->kernel->tracker, index);
}

static int make_room(struct qzi_kernel *kernel, uint32_t high, uint32_t processors) {
  uint32_t most = high + processors; /* including ended threads */
  if (most < kernel->room) return 0;
  uint32_t room = most + most / 2 + 16;
  struct qzi_seen *all = realloc(kernel->seen, room * sizeof *all);
  if (all) kernel->seen = all;
  uint32_t *order = realloc(kernel->order, room * sizeof *order);
  if (order) kernel->order = order;
  if (!all || !order) return -1;
  kernel->room = room;
  return 0;
}

/* The record `index` is free: its thread has ended. */
static void part_from(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_kernel_memo *memo = &kernel->memos[index];
  if (memo->serial) qzi_thread_ended(sampler, index);
  qzi_task_state_close(&kernel->asker, &memo->task);
  qzi_tracker_gone(kernel->tracker, index);
  memo->serial = 0;
}

/* Keeps, of the threads that ended before this snapshot, those to which time is owed. */
static void keep_owed(struct qzi_kernel *kernel) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < kernel->ended_count; k++)
    if (kernel->ended[k].owed_ns > 0) kernel->ended[kept++] = kernel->ended[k];
  kernel->ended_count = kept;
}

/* Looks at all threads that do not rest, and in turn at some of those that do. Returns the number of entries in `seen`;
 * counts->runnable is the number of runnable threads. */
static uint32_t look_at_all(struct qzi_sampler *sampler, uint32_t high, uint64_t now_ns, struct qzi_counts *counts,
                            int *waiters) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t count = 0, runnable = 0, waiting = 0, ask = qzi_kernel_asks(kernel, high);
  kernel->reads = 0;
  keep_owed(kernel);
  qzi_resting_begin(sampler, kernel->resting, high);
  for (uint32_t k = qzi_resting_next(kernel->resting, 0, high), next; k < high; k = next) {
    next = qzi_resting_next(kernel->resting, k + 1, high);
    uint32_t turn = k >= kernel->cursor ? k - kernel->cursor : k + high - kernel->cursor;
    uint32_t read_turn = k >= kernel->read_cursor ? k - kernel->read_cursor : k + high - kernel->read_cursor;
    if (k + AHEAD < high) fetch(sampler, k + AHEAD);
    if (QZ_LOAD_ACQUIRE(&qz_session_thread(sampler->view, k)->serial) == 0) {
      part_from(sampler, k);
      qzi_resting_free(kernel->resting, k);
      continue;
    }
    qzi_thread_overflows(sampler, k);
    qzi_kernel_look(sampler, k, turn < ask, read_turn < READ_LEAST, now_ns, &kernel->seen[count]);
    count += kernel->seen[count].state != QZ_STATE_IDLE;
  }
  for (uint32_t n = 0; qzi_resting_count(kernel->resting) && n < ask + READ_RESTING; n++) {
    uint32_t k = (n < ask ? kernel->cursor + n : kernel->read_cursor + n - ask) % high;
    if (qzi_resting_as(kernel->resting, k) &&
        !qzi_still_rests(sampler, k, n < ask, n >= ask, now_ns, &kernel->seen[count]))
      count += kernel->seen[count].state != QZ_STATE_IDLE;
  }
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    struct qzi_kernel_memo *memo = &kernel->memos[seen->index];
    memo->place = k;
    memo->round = sampler->round;
    runnable += qzi_is_runnable(seen);
    *waiters |= seen->object != 0;
    if (sampler->outside && (seen->state == QZ_STATE_BLOCKED || seen->woken) && seen->object && !seen->outside)
      qzi_outside_waits(sampler->outside, seen->object, now_ns);
    waiting += seen->waits;
  }
  uint32_t rest = qzi_resting_waiters(kernel->resting);
  *waiters |= rest != 0;
  kernel->cursor = high > ask ? (kernel->cursor + ask) % high : 0;
  kernel->read_cursor = high > READ_LEAST ? (kernel->read_cursor + READ_LEAST) % high : 0;
  counts->runnable = runnable + qzi_find_woken(sampler, high, &count, waiting + rest, runnable, now_ns);
  return count;
}

/* ---- adding ---- */

/* Finds the tuple of a thread. */
static int find_tuple(struct qzi_sampler *sampler, struct qzi_seen *seen, const struct qzi_counts *counts) {
  struct qzi_tuple_key key = {.stack = seen->node,
                              .thread = seen->look.entity,
                              .state = qzi_shown_state(seen),
                              .waiting = qzi_waiting_of(sampler, seen),
                              .torn = (uint8_t)seen->look.torn,
                              .kernel = seen->kernel,
                              .busy = (uint16_t)counts->useful,
                              .spinning = (uint16_t)counts->spinning,
                              .runnable = counts->runnable};
  if (seen->index == QZI_NOBODY) return (seen->tuple = qzi_tuple_find(&sampler->tuples, &key)) ? 0 : -1;
  struct qzi_kernel_memo *memo = &sampler->kernel->memos[seen->index];
  if (memo->last_tuple && qzi_tuple_same(&memo->last_key, &key)) {
    seen->tuple = memo->last_tuple;
    return 0;
  }
  if (!(seen->tuple = qzi_tuple_find(&sampler->tuples, &key))) return -1;
  memo->last_key = key;
  memo->last_tuple = seen->tuple;
  return 0;
}

/* The session's count of an object's queue excludes spinning threads and includes woken ones; notes both. */
static void note_queue(struct qzi_sampler *sampler, const struct qzi_seen *seen) {
  if (!seen->object || seen->object >= qz_session_object_high(sampler->view)) return;
  struct qzi_object_memo *memo = qzi_object_in_round(sampler, seen->object);
  memo->spinners += seen->state == QZ_STATE_SPINNING && !seen->polls;
  memo->woken += seen->woken;
}
/* Restores the state in which the thread was seen. */
static void look_again(struct qzi_seen *seen) {
  seen->executes = seen->kernel = seen->turn = 0;
  seen->node = seen->look.node;
  if (seen->polls || seen->instead) seen->state = seen->polls ? QZ_STATE_SPINNING : seen->instead;
  seen->instead = 0;
}

/* Adds one part of a snapshot; which threads execute is chosen for each part. */
static int add_part(struct qzi_sampler *sampler, uint64_t end_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qzi_looked *all = &kernel->looked;
  struct qzi_counts counts = all->counts;
  const uint32_t looked = all->count;
  uint64_t ns;
  qzi_choose_runnable(sampler, looked, &counts);
  uint32_t count = qzi_choose_others(sampler, looked, &counts);
  for (uint32_t k = 0; k < looked; k++) counts.runnable -= (uint32_t)qzi_has_yielded(&kernel->seen[k]);
  for (uint32_t k = 0; k < count; k++)
    if (find_tuple(sampler, &kernel->seen[k], &counts)) return -1;
  if (qzi_snapshot_begin(sampler, end_ns, &counts, &ns)) return -1;
  if (!counts.more) qzi_holders_begin(sampler->holders); /* once for each snapshot */
  for (uint32_t k = 0; k < looked && all->waiters && !counts.more; k++)
    qzi_holders_add(sampler, sampler->holders, kernel->seen[k].look.node, kernel->seen[k].look.entity,
                    kernel->seen[k].outside ? 0 : kernel->seen[k].object);
  const uint64_t at_ns = sampler->file->head->elapsed_ns + ns;
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    if (!counts.more && (seen->state == QZ_STATE_SPINNING || seen->woken) && !seen->outside) note_queue(sampler, seen);
    if (seen->outside && !seen->woken && !seen->instead)
      qzi_external_wait(&sampler->in, seen->object);
    else if (seen->executes && seen->state != QZ_STATE_SPINNING)
      qzi_timeline_top(&sampler->timeline, qzi_timeline_entity(&sampler->timeline, seen->node), ns);
    qzi_tuple_add(&sampler->tuples, seen->tuple, counts.runnable, ns);
    qzi_slice_add(&sampler->slices, seen->tuple, at_ns, ns);
    if (seen->executes)
      qzi_instruction_add(&sampler->instructions, seen->instruction, ns, counts.useful,
                          seen->state == QZ_STATE_SPINNING);
    if (k < looked) qzi_thread_seen(sampler, seen->index, at_ns);
    if (k < looked && seen->executes) kernel->gone = (struct qzi_gone){{seen->node, 0, 0}, seen->look.entity, 0};
  }
  qzi_note_processors(sampler, &counts, ns);
  qzi_note_running(sampler, count);
  qzi_resting_add(kernel->resting, &counts, ns);
  qzi_snapshot_end(sampler, end_ns, &counts, ns);
  qzi_externals_seen(sampler, ns);
  qzi_note_path(sampler, looked, counts.more);
  if (!counts.more) qzi_path_advance(&sampler->path, qzi_resting_awake(kernel->resting));
  return 0;
}

/* Number of parts of that much of a snapshot. */
static uint64_t parts_of(const struct qzi_kernel *kernel, uint64_t whole_ns) {
  uint64_t part_ns = kernel->accounts.last ? LAST_NS : PART_NS, threads = kernel->looked.high;
  uint64_t parts = (whole_ns + part_ns - 1) / part_ns, most = whole_ns / PARTS_EACH;
  if (most < PARTS_OF) most = PARTS_OF;
  if (parts * threads > most) parts = most / threads;
  return parts ? parts : 1;
}

/* Adds one part of a snapshot after another, up to end_ns. later: 1: the snapshot has been counted. */
static int add_parts(struct qzi_sampler *sampler, uint64_t end_ns, int later) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_looked *looked = &kernel->looked;
  uint64_t begin_ns = sampler->last_ns, ns = end_ns - begin_ns, parts = parts_of(kernel, ns);
  kernel->accounts.snapshot_ns = ns / parts;
  for (uint64_t k = 0; k < parts; k++) {
    looked->counts.first = !later && k == 0;
    kernel->accounts.ahead_ns =
      ns / parts * (parts - k - 1) + (looked->until_ns > end_ns ? looked->until_ns - end_ns : 0);
    looked->counts.more = later || k + 1 < parts;
    for (uint32_t at = 0; (k || later) && at < looked->count; at++) look_again(&kernel->seen[at]);
    if (add_part(sampler, k + 1 < parts ? begin_ns + ns / parts * (k + 1) : end_ns)) return -1;
  }
  return 0;
}

/* Begins to charge time to threads, of which so much is in each part of a snapshot. */
static void begin_accounts(struct qzi_sampler *sampler, uint64_t now_ns, uint64_t part_ns) {
  struct qzi_run_accounts *accounts = &sampler->kernel->accounts;
  uint64_t took_ns = accounts->took_ns;
  qzi_run_accounts_begin(accounts, now_ns, part_ns, sampler->kernel->looked.high);
  sampler->apart_ns += accounts->took_ns - took_ns;
}

/* Adds what the last snapshot still stands for, unless the program has ended meanwhile. That is time after its look:
 * with the process's time as it was then, hardly any would be left for it. */
static int kernel_add_rest(struct qzi_sampler *sampler, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint64_t until_ns = kernel->looked.until_ns;
  kernel->looked.until_ns = 0;
  if (until_ns <= sampler->last_ns || kernel->accounts.last) return 0;
  begin_accounts(sampler, now_ns, kernel->accounts.snapshot_ns);
  if (add_parts(sampler, until_ns, 1)) return -1;
  qzi_let_rest(sampler, kernel->looked.count, now_ns);
  return 0;
}

/* Looks at all threads and adds what was seen. A snapshot stands for time that is still to come, too. If that is more
 * than a part it is added before the next look: if the program ends within it, none of it has been reported, and the
 * last snapshot, which knows how much processor time was used in all, stands for what there really was. */
static int kernel_add(struct qzi_sampler *sampler, uint64_t now_ns, uint64_t until_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_looked *looked = &kernel->looked;
  uint32_t high = qz_session_thread_high(sampler->view);
  if (sampler->outside) sampler->apart_ns += qzi_outside_begin(sampler->outside, now_ns);
  if (kernel_add_rest(sampler, now_ns) || make_room(kernel, high, sampler->view->processors)) return -1;
  uint64_t whole_ns = until_ns - sampler->last_ns;
  int divided = whole_ns > PART_NS && now_ns > sampler->last_ns && until_ns > now_ns;
  *looked = (struct qzi_looked){.high = high, .counts = {.whole_ns = whole_ns}, .until_ns = divided ? until_ns : 0};
  sampler->round++;
  qzi_tracker_begin(kernel->tracker, now_ns, kernel->accounts.run_ns);
  kernel->whole_ns = whole_ns;
  begin_accounts(sampler, now_ns, whole_ns / parts_of(kernel, whole_ns));
  looked->count = look_at_all(sampler, high, now_ns, &looked->counts, &looked->waiters);
  qzi_look_on_cpus(sampler, looked->count);
  qzi_look_for_confined(sampler, now_ns);
  if (sampler->outside) qzi_outside_waited(sampler->outside, whole_ns);
  if (add_parts(sampler, divided ? now_ns : until_ns, 0)) return -1;
  sampler->file->head->visits += looked->count + qzi_resting_count(kernel->resting);
  if (!divided) qzi_let_rest(sampler, looked->count, now_ns);
  return 0;
}

static void kernel_last(struct qzi_sampler *sampler, uint64_t total_ns) {
  qzi_run_accounts_last(&sampler->kernel->accounts, total_ns);
}

static void kernel_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  (void)sampler, (void)first, (void)end; /* kernel_add visits */
}

static uint32_t kernel_node(const struct qzi_sampler *sampler, uint32_t index) {
  return qzi_tracker_node(sampler->kernel->tracker, index);
}

static void kernel_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site) {
  qzi_tracker_taken(sampler->kernel->tracker, key, site);
}

static uint64_t kernel_apart_ns(const struct qzi_sampler *sampler) {
  return qzi_tracker_apart_ns(sampler->kernel->tracker);
}

static void kernel_settle(struct qzi_sampler *sampler) {
  qzi_resting_settle(sampler, sampler->kernel->resting, sampler->last_ns);
}

const struct qzi_threading qzi_kernel_threading = {
  .whole = 1,
  .open = kernel_open,
  .close = kernel_close,
  .prepare = kernel_prepare,
  .start = kernel_start,
  .skip = kernel_skip,
  .visit = kernel_visit,
  .add = kernel_add,
  .add_rest = kernel_add_rest,
  .last = kernel_last,
  .settle = kernel_settle,
  .node = kernel_node,
  .blame = qzi_blame_holders,
  .taken = kernel_taken,
  .apart_ns = kernel_apart_ns,
};
