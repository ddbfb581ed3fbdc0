/* State of one thread: from its record, and from the kernel if the record says that the thread does useful work. See
 * kernel_view.h.
 *
 * Must not: trust the kernel more than a record about what a thread waits for, except about whether it has been
 * woken.
 */
#include "kernel_view.h"
#include "sampler/util/clock.h"
#include "sampler/profile/interned_stacks.h"

#define TRIES_NS     UINT64_C(50000) /* a thread that ran longer than this without a try is doing something else */
/* Maximum number of threads about which the kernel is asked in one snapshot, in turn; for the others the last answer
 * is used. (Asking about more makes snapshots more expensive and therefore rarer, so that each thread is not asked
 * about more often.) */
#define ASKED_MOST   32u
#define ASK_COST     100u            /* if only some threads are asked about, this takes at most 1/ASK_COST of a CPU, */
#define ASK_MANY     1000u           /* with this many threads half of that, with twice as many a third, */
#define ASK_LEAST    4u              /* and at least a quarter */
#define ASK_MOST_NS  UINT64_C(20000) /* ns: limit for one question; if it takes longer, other programs had the CPU */
/* Maximum number of sleeping threads whose processor time is read in one snapshot: those that have run since, */
#define READ_MOST    32u
/* and one more for each READ_EACH_NS of the snapshot's weight, which takes 2 % of a CPU */
#define READ_EACH_NS UINT64_C(350000)

/* Whether the thread spins: since the last snapshot, it has tried the same lock (or yielded in the same loop) several
 * times without success, and did nothing else. It still spins if it got no CPU since that was last seen. Returns the
 * object, which is added to its path as if the thread had called for it; 0: it does not spin. */
static uint32_t tries_for(struct qzi_kernel *kernel, struct qzi_kernel_memo *memo, uint32_t tid, uint64_t tries) {
  uint32_t object = (uint32_t)(tries >> 32);
  uint64_t before_ns = memo->spun_ns;
  if (!object || object != (uint32_t)(memo->tries >> 32)) {
    memo->spun_ns = 0;
    return 0;
  }
  int more = (uint32_t)tries > (uint32_t)memo->tries + 1;
  if (!more && !before_ns) return 0;
  uint64_t run_ns = qzi_ask_run_ns(&kernel->asker, tid);
  memo->spun_ns = more || run_ns - before_ns < TRIES_NS ? (run_ns ? run_ns : 1) : 0;
  return memo->spun_ns ? object : 0;
}

/* Gets a name that the thread was given after it was first seen. */
static void look_at_name(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_thread_memo *memo = &sampler->in.memos[index];
  uint32_t name = QZ_LOAD(&qz_session_thread(sampler->view, index)->name);
  if (!memo->entity || name == memo->name) return;
  memo->name = name;
  struct qz_entity *entity = &sampler->file->entities[memo->entity];
  if (entity->instances == 1 && entity->record == index) entity->name = qzi_intern_name(&sampler->in, name);
}

/* Reads the thread's processor time as counted by the kernel: each time for a runnable thread; for a sleeping one only
 * if it has run since. */
static void read_account(struct qzi_sampler *sampler, uint32_t index, const struct qzi_look *its, unsigned state,
                         int may_read, uint32_t tid) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_kernel_memo *memo = &kernel->memos[index];
  uint64_t word = sampler->in.memos[index].word, run_ns;
  int sleeps = state == QZ_STATE_BLOCKED || state == QZ_STATE_IO,
      same = memo->read_word == word && memo->read_state == its->state;
  if (sleeps && !may_read && (same || kernel->reads >= READ_MOST + kernel->whole_ns / READ_EACH_NS)) return;
  kernel->reads += sleeps && !same;
  if (!qzi_ask_counted(&kernel->asker, &memo->task, tid, &run_ns)) return;
  int aside = memo->epoch != kernel->epoch; /* it ran while nothing was published */
  if (aside) memo->account.run_ns = run_ns;
  memo->epoch = kernel->epoch;
  memo->read_word = word;
  memo->read_state = its->state;
  int before = sampler->round <= 1;
  if (!memo->account.known || memo->account.run_ns != run_ns)
    memo->still = 0;
  else if (!sleeps && memo->still < UINT8_MAX)
    memo->still++;
  qzi_run_account_read(&memo->account, run_ns, memo->task.count.dispatches, before);
  if (!sleeps) qzi_run_account_runs(&kernel->accounts, &memo->account);
  qzi_tracker_counted(kernel->tracker, index, its->serial, run_ns, memo->task.count.dispatches, aside || before);
}

/* Number of threads about which the kernel is asked in this snapshot; all of them if there are few. */
uint32_t qzi_kernel_asks(const struct qzi_kernel *kernel, uint32_t high) {
  uint32_t part = 1 + high / ASK_MANY, cost = ASK_COST * (part < ASK_LEAST ? part : ASK_LEAST);
  uint64_t may = kernel->ask_ns ? kernel->whole_ns / cost / kernel->ask_ns : ASKED_MOST;
  if (high <= ASKED_MOST || may >= ASKED_MOST) return high < ASKED_MOST ? high : ASKED_MOST;
  return may ? (uint32_t)may : 1;
}

static void ask(struct qzi_kernel *kernel, struct qzi_kernel_memo *memo, uint32_t tid, int woken) {
  uint64_t begin_ns = qzi_clock_ns();
  qzi_ask(&kernel->asker, &memo->task, tid, woken);
  uint64_t took_ns = qzi_clock_ns() - begin_ns;
  if (took_ns > ASK_MOST_NS) took_ns = ASK_MOST_NS; /* other programs had the CPU */
  kernel->ask_ns = kernel->ask_ns ? (kernel->ask_ns * 15 + took_ns) / 16 : took_ns;
}

/* Notes in which sleep the kernel has just said that the thread is. */
static void note_sleep(struct qzi_sampler *sampler, uint32_t index, uint64_t now_ns) {
  struct qzi_kernel_memo *memo = &sampler->kernel->memos[index];
  uint32_t stats_plus_1 = sampler->in.memos[index].stats;
  int asleep = memo->task.answer == QZI_ASLEEP && memo->task.call.known && qzi_sleep_pace_is(memo->task.call.call);
  if (stats_plus_1)
    qzi_sleep_pace_look(&memo->pace, &sampler->file->threads[stats_plus_1 - 1], asleep ? memo->task.call.dispatches : 0,
                        now_ns);
}

void qzi_thread_ended(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_kernel_memo *memo = &kernel->memos[index];
  uint32_t k = 0;
  if (!memo->last_tuple || !memo->account.known) return;
  if (kernel->ended_count < QZI_ENDED_MOST)
    k = kernel->ended_count++;
  else
    for (uint32_t other = 1; other < kernel->ended_count; other++)
      if (kernel->ended[other].owed_ns < kernel->ended[k].owed_ns) k = other;
  struct qzi_executed its = qzi_tracker_ended(kernel->tracker, index, memo->serial, kernel->accounts.snapshot_ns);
  kernel->ended[k] = (struct qzi_gone){.its = its, .entity = memo->last_key.thread, .owed_ns = memo->account.owed_ns};
  if (!its.node) kernel->ended[k].its.node = memo->last_key.stack;
  kernel->past = (struct qzi_gone){.its = kernel->ended[k].its, .entity = kernel->ended[k].entity};
  kernel->past_round = sampler->round;
}

/* The thread waits in sched_yield: it polls, or has been let go and waits for a CPU. */
static void look_at_yield(const struct qzi_sampler *sampler, struct qzi_seen *seen, unsigned *state) {
  const struct qz_object *object = qz_session_object(sampler->view, QZ_STATE_OBJECT(seen->look.state));
  uint32_t let_go = QZ_STATE_LET_GO(QZ_LOAD(&object->chain[0].ticks)), before = (uint32_t)seen->look.state & ~0xffu;
  seen->woken = let_go != before && !(seen->look.state & QZ_STATE_FUTILE);
  if (!seen->woken) seen->polls = QZ_LOAD(&object->kind) == QZ_KIND_LOOP ? QZI_POLLS_LOOP : QZI_POLLS;
  *state = seen->woken ? QZ_STATE_READY : QZ_STATE_SPINNING;
}

/* Determines the state of the thread `index`; IDLE: there is none. */
void qzi_kernel_look(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                     struct qzi_seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  struct qzi_kernel_memo *memo = &kernel->memos[index];
  seen->state = QZ_STATE_IDLE;
  seen->index = index;
  seen->waits = seen->woken = seen->polls = seen->executes = seen->instead = seen->kernel = seen->turn = seen->cpu = 0;
  qzi_thread_look(sampler, index, &seen->look);
  if (!seen->look.serial || !seen->look.entity) return;
  look_at_name(sampler, index);
  uint32_t tid = QZ_LOAD(&thread->os_tid);
  uint64_t tries = QZ_LOAD(&thread->tries);
  if (memo->serial != seen->look.serial) {
    if (memo->serial) qzi_thread_ended(sampler, index);
    memo->serial = seen->look.serial;
    memo->tries = memo->spun_ns = 0;
    memo->woken = 0;
    memo->task.answer = QZI_AWAKE;
    memo->task.unrun = 0;
    memo->account = (struct qzi_run_account){0};
    memo->pace = (struct qzi_sleep_pace){0};
    memo->last_tuple = 0;
    memo->still = 0;
    memo->epoch = kernel->epoch;
    may_ask = 1;
  }
  unsigned state = QZ_STATE_OF(seen->look.state);
  seen->object = QZ_STATE_OBJECT(seen->look.state);
  if (state >= QZ_STATE_COUNT) {
    sampler->file->head->invalid++;
    return;
  }
  if (state == QZ_STATE_OVERHEAD) state = QZ_STATE_USEFUL;
  int published = state != QZ_STATE_USEFUL;
  int may_spin = state == QZ_STATE_BLOCKED && seen->look.state & QZ_STATE_MAY_SPIN;
  int yields = state == QZ_STATE_BLOCKED && tid && seen->look.state & QZ_STATE_YIELDS;
  seen->waits = state == QZ_STATE_BLOCKED && tid && !yields;
  if (may_spin && tid) {
    if (may_ask) ask(kernel, memo, tid, may_read);
    if (memo->task.answer == QZI_AWAKE) {
      state = QZ_STATE_SPINNING;
      seen->waits = 0;
    }
  }
  if (state == QZ_STATE_USEFUL && tid) {
    int doubled = memo->still && !(memo->still & (memo->still - 1)); /* a thread that waits for a CPU is asked about
                                                                        less and less often */
    if (may_ask || doubled) {
      ask(kernel, memo, tid, may_read);
      note_sleep(sampler, index, now_ns);
    }
    if (memo->task.answer == QZI_GONE) state = QZ_STATE_IDLE;
    if (memo->task.answer == QZI_GONE && kernel->accounts.last) qzi_thread_ended(sampler, index);
    if (memo->task.answer == QZI_ASLEEP) state = QZ_STATE_IO;
    if (memo->task.answer == QZI_ON_FUTEX) state = QZ_STATE_BLOCKED;
    seen->woken = state == QZ_STATE_USEFUL && memo->task.unrun;
    uint32_t tried = state == QZ_STATE_USEFUL && !seen->woken ? tries_for(kernel, memo, tid, tries) : 0;
    if (tried) {
      state = QZ_STATE_SPINNING;
      seen->object = tried;
    }
  }
  /* created, but it has not begun */
  if ((state == QZ_STATE_USEFUL || state == QZ_STATE_READY) && !tid) seen->woken = 1;
  if (tid) read_account(sampler, index, &seen->look, state, may_read, tid);
  memo->tries = tries;
  int outside = 0;
  if (state != QZ_STATE_IDLE)
    outside =
      qzi_tracker(kernel->tracker, index, &seen->look, state, published, &memo->task.call, &seen->object, now_ns);
  if (yields) look_at_yield(sampler, seen, &state);
  if (seen->woken && !published && seen->object) state = QZ_STATE_READY; /* from a wait for an object of the session */
  if (outside && state == QZ_STATE_IO) state = QZ_STATE_BLOCKED;         /* in MPI: it waits for another process */
  uint32_t loop = state == QZ_STATE_USEFUL && !seen->woken ? qzi_tracker_loop(kernel->tracker, index) : 0;
  if (loop) {
    seen->object = loop;
    seen->state = QZ_STATE_SPINNING;
    seen->outside = 1;
    seen->node = seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(QZ_KIND_FUTEX, seen->object));
    return;
  }
  const struct qz_object *object =
    state == QZ_STATE_SPINNING && !outside ? qz_session_object(sampler->view, seen->object) : NULL;
  if (object && !qzi_waits_at_top(sampler, seen->look.node, seen->object))
    seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(QZ_LOAD(&object->kind), seen->object));
  seen->node = seen->look.node;
  seen->outside = (uint8_t)outside;
  seen->state = (uint8_t)state;
}
