/* Snapshots of programs whose threads are kernel threads (QZ_PUBLISHER_PTHREAD): every live thread record is visited,
 * and the kernel is asked which of those that call themselves useful are asleep, and which of those that wait are
 * runnable. See snapshot.h.
 *
 * Owns:    what was seen of each thread last.
 * Writer and reader: the aggregating thread.
 * Must not: believe the kernel over a record on what its thread waits for, only on whether it has been woken; add up to
 * more than P processors.
 *
 * Of the threads that could run, those execute to which the kernel's count of their processor time is owed
 * (run_account.h), at most P: b of them useful, s spinning. The others are ready: they wait for a CPU. So do those that
 * have been woken, or made, and have not run since. One that sleeps, and to which more is owed than looks have seen,
 * executes on its last path. (docs/reference/metrics.md, sections 1, 5 and 6)
 */
#include <stdlib.h>
#include "blame.h"
#include "lock_holders.h"
#include "resting_threads.h"
#include "round.h"
#include "run_account.h"
#include "sync_objects.h"
#include "thread_tracker.h"
#include "sampler/profile/external_objects.h"
#include "sampler/linux/task_state.h"
#include "sampler/util/clock.h"

#define TRIES_NS UINT64_C(50000) /* who has run longer than this without a try does something else */
#define ASKED_MOST                                                                                                   \
  32u /* threads of which the kernel is asked in one snapshot, in turn; of the others the last answer holds. (Asking \
       * more makes a snapshot more expensive, so that there are fewer: each thread is asked no more often.) */
#define ASK_COST    100u            /* asking of some of many takes at most one part in so many of a CPU */
#define ASK_MOST_NS UINT64_C(20000) /* a question takes no longer */
#define AHEAD       4u              /* threads */
#define READ_MOST \
  32u /* sleeping threads of which the processor time is read in one snapshot: those that went on since */
#define READ_EACH_NS UINT64_C(350000) /* and of one more for so much that the snapshot stands for: 2 % of a CPU */
#define PART_NS                                                                                                      \
  UINT64_C(2000000) /* a snapshot that stands for more has several parts: of it, too, threads execute as long as the \
                       kernel says */
#define PARTS_MOST 16u
#define PARTS_OF \
  1024u /* threads, of all parts together: of thousands a snapshot has one part, for each costs as much as that */
#define READ_RESTING 1u         /* and of those that rest (resting_threads.h) */
#define NOBODY       UINT32_MAX /* in place of a record: that of a thread that has ended */
#define READ_LEAST   4u         /* and so many more, in turn: whether one has been woken is asked of them, too */
#define WOKEN_LEAST  4u         /* of those that say that they wait so many are asked about, in turn, ... */
#define WOKEN_FOUND  4u         /* ... and so many more for each that is found woken, ... */
#define WOKEN_MOST   32u        /* ... but no more than these, */
#define WOKEN_LOOKS  1024u      /* looked for among so many */

/* What is remembered of a thread record. */
struct memo {
  uint64_t serial;
  uint64_t tries;                /* as in the record, at the last snapshot */
  uint64_t spun_ns;              /* its processor time when it was seen to try without success; 0: it was not */
  struct qzi_tuple_key last_key; /* of its last tuple, */
  uint32_t last_tuple;           /* and that; 0: none */
  uint64_t woken; /* packed word of its record when it was found runnable though it says that it waits; 0: it was not */
  struct qzi_task_state task;
  struct qzi_run_account account;
  uint64_t read_word, read_state; /* of its record, when its processor time was read */
  uint32_t epoch;                 /* of that reading */
  uint32_t place;                 /* in `seen`, in the snapshot `round` */
  uint64_t round;
  uint8_t rests_waiting; /* its record says that it is blocked, while it rests */
  uint8_t still;         /* it could run, but had not in so many readings: it may have gone to sleep */
};

/* A thread in the snapshot that is under way. */
struct seen {
  struct qzi_look look;
  uint32_t index, object, tuple;
  uint32_t node;   /* of its tuple: look.node, or the path on which it counts as having executed */
  uint8_t state;   /* enum qz_state; READY: runnable, counted with the useful ones */
  uint8_t outside; /* its wait is known from the kernel alone: `object` is a futex */
  uint8_t waits;   /* its record says that it is blocked */
  uint8_t
    woken; /* it is runnable, and has had no CPU since it waited (for `object`, if its record says so) or was made */
  uint8_t executes; /* on a CPU */
  uint8_t kernel;   /* what the kernel did for it, where it executes: enum qz_kernel */
  uint8_t instead;  /* it executes though it sleeps, or has been woken: its state otherwise; IDLE: it does not */
};

/* A thread that ended: for those that come and go between looks. */
struct gone {
  uint32_t node, entity;
};

struct qzi_kernel {
  struct memo *memos;
  size_t memos_bytes;
  struct seen *seen;
  struct qzi_tracker *tracker;
  struct qzi_asker asker;
  struct qzi_run_accounts accounts;
  struct qzi_resting *resting;
  struct gone gone;
  uint32_t *order;           /* of the threads that could execute: places in `seen` */
  uint64_t ask_ns, whole_ns; /* what a question takes; the weight of this snapshot */
  uint32_t room, cursor, woken_cursor, read_cursor;
  uint32_t epoch, reads; /* see qzi_kernel_skip; processor times read in this snapshot */
};

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

/* What the program's threads ran meanwhile is not reported. */
static void kernel_skip(struct qzi_sampler *sampler) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint64_t attributed_ns = kernel->accounts.attributed_ns, run_ns = kernel->accounts.run_ns;
  qzi_run_accounts_open(&kernel->accounts, kernel->accounts.pid, kernel->accounts.processors);
  kernel->accounts.base_ns -= run_ns;
  kernel->accounts.run_ns = run_ns;
  kernel->accounts.attributed_ns = attributed_ns;
  kernel->epoch++;
}

static void kernel_prepare(struct qzi_sampler *sampler) { qzi_tracker_prepare(sampler->kernel->tracker); }
static void kernel_start(struct qzi_sampler *sampler) { qzi_tracker_start(sampler->kernel->tracker); }

/* ---- one thread ---- */

/* The thread tried the same lock (or yielded, in the same loop), without success, several times since the last
 * snapshot, and nothing else: it spins. It still does if it has had no CPU since it last was seen to. The object stands
 * on its path, as if it had been asked for. */
static uint32_t tries_for(struct qzi_kernel *kernel, struct memo *memo, uint32_t tid, uint64_t tries) {
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

/* A name that was given after the thread was first seen. */
static void look_at_name(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_thread_memo *memo = &sampler->in.memos[index];
  uint32_t name = QZ_LOAD(&qz_session_thread(sampler->view, index)->name);
  if (!memo->entity || name == memo->name) return;
  memo->name = name;
  struct qz_entity *entity = &sampler->file->entities[memo->entity];
  if (entity->instances == 1 && entity->record == index) entity->name = qzi_intern_name(&sampler->in, name);
}

/* What the kernel counts of its processor time: of a thread that could run each time, of a sleeping one when it has
 * gone on since. */
static void read_account(struct qzi_sampler *sampler, uint32_t index, const struct qzi_look *its, unsigned state,
                         int may_read, uint32_t tid) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct memo *memo = &kernel->memos[index];
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
  qzi_run_account_read(&memo->account, run_ns, before);
  qzi_tracker_counted(kernel->tracker, index, its->serial, run_ns, memo->task.count.dispatches, aside || before);
}

/* Of how many threads the kernel is asked in this snapshot: of few, all. */
static uint32_t asks(const struct qzi_kernel *kernel, uint32_t high) {
  uint64_t may = kernel->ask_ns ? kernel->whole_ns / ASK_COST / kernel->ask_ns : ASKED_MOST;
  if (high <= ASKED_MOST || may >= ASKED_MOST) return high < ASKED_MOST ? high : ASKED_MOST;
  return may ? (uint32_t)may : 1;
}

static void ask(struct qzi_kernel *kernel, struct memo *memo, uint32_t tid, int woken) {
  uint64_t begin_ns = qzi_clock_ns();
  qzi_ask(&kernel->asker, &memo->task, tid, woken);
  uint64_t took_ns = qzi_clock_ns() - begin_ns;
  if (took_ns > ASK_MOST_NS) took_ns = ASK_MOST_NS; /* others had the CPU */
  kernel->ask_ns = kernel->ask_ns ? (kernel->ask_ns * 15 + took_ns) / 16 : took_ns;
}

/* State of the thread `index`, or IDLE: none there. */
static void look(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                 struct seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  struct memo *memo = &kernel->memos[index];
  seen->state = QZ_STATE_IDLE;
  seen->index = index;
  seen->waits = seen->woken = seen->executes = seen->instead = seen->kernel = 0;
  qzi_thread_look(sampler, index, &seen->look);
  if (!seen->look.serial || !seen->look.entity) return;
  look_at_name(sampler, index);
  uint32_t tid = QZ_LOAD(&thread->os_tid);
  uint64_t tries = QZ_LOAD(&thread->tries);
  if (memo->serial != seen->look.serial) {
    memo->serial = seen->look.serial;
    memo->tries = memo->spun_ns = 0;
    memo->woken = 0;
    memo->task.answer = QZI_AWAKE;
    memo->task.unrun = 0;
    memo->account = (struct qzi_run_account){0};
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
  seen->waits = state == QZ_STATE_BLOCKED && tid;
  if (state == QZ_STATE_USEFUL && tid) {
    int doubled = memo->still && !(memo->still & (memo->still - 1)); /* one that waits for a CPU is soon left alone */
    if (may_ask || doubled) ask(kernel, memo, tid, may_read);
    if (memo->task.answer == QZI_GONE) state = QZ_STATE_IDLE;
    if (memo->task.answer == QZI_ASLEEP) state = QZ_STATE_IO;
    if (memo->task.answer == QZI_ON_FUTEX) state = QZ_STATE_BLOCKED;
    seen->woken = state == QZ_STATE_USEFUL && memo->task.unrun;
    uint32_t tried = state == QZ_STATE_USEFUL && !seen->woken ? tries_for(kernel, memo, tid, tries) : 0;
    if (tried) {
      state = QZ_STATE_SPINNING;
      seen->object = tried;
    }
  }
  if ((state == QZ_STATE_USEFUL || state == QZ_STATE_READY) && !tid) seen->woken = 1; /* made, but it has not begun */
  if (tid) read_account(sampler, index, &seen->look, state, may_read, tid);
  memo->tries = tries;
  int outside = 0;
  if (state != QZ_STATE_IDLE)
    outside =
      qzi_tracker(kernel->tracker, index, &seen->look, state, published, &memo->task.call, &seen->object, now_ns);
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

/* ---- threads that rest ---- */

static uint8_t waiting_of(const struct qzi_sampler *sampler, const struct seen *seen) {
  uint8_t waiting = seen->woken ? QZ_WAITING_WOKEN : QZ_WAITING_OBJECT;
  return !seen->instead && qzi_waits_at_top(sampler, seen->node, seen->object) ? waiting : 0;
}

/* 1: no more is owed to it than is told of one that sleeps at last (run_account.h). */
static int paid(const struct qzi_kernel *kernel, const struct memo *memo) {
  return memo->account.known && memo->account.owed_ns <= (int64_t)kernel->accounts.snapshot_ns / 2;
}

/* Those that sleep, have been reported in full, and hold no lock that others may wait for. */
static void let_rest(struct qzi_sampler *sampler, uint32_t looked, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  qzi_resting_settle(sampler, kernel->resting, now_ns);
  for (uint32_t k = 0; k < looked; k++) {
    const struct seen *seen = &kernel->seen[k];
    struct memo *memo = &kernel->memos[seen->index];
    int sleeps = seen->state == QZ_STATE_BLOCKED || seen->state == QZ_STATE_IO;
    if (!sleeps || seen->woken || seen->instead || seen->look.torn || !paid(kernel, memo)) continue;
    if (!seen->waits && !memo->task.call.known) continue;
    if (qzi_holders_any(sampler, sampler->holders, seen->look.node, seen->outside ? 0 : seen->object)) continue;
    struct qzi_tuple_key key = {.stack = seen->look.node,
                                .thread = seen->look.entity,
                                .state = seen->state,
                                .waiting = waiting_of(sampler, seen)};
    memo->rests_waiting = seen->waits;
    qzi_resting_rest(sampler, kernel->resting, seen->index, &key, seen->waits, seen->outside ? seen->object : 0,
                     memo->account.owed_ns);
  }
}

/* ---- woken threads ---- */

/* Asks the kernel about threads that say that they wait: one that is runnable has been woken, and waits for a CPU.
 * Where there are many some are asked, in turn, and more of them where some are found woken; such a thread is, until
 * its record changes. `runnable`: those that are known to be; where nobody else on the machine is but the sampler, none
 * has been woken. Adds those that rested to the *count in `seen`. */
static uint32_t find_woken(struct qzi_sampler *sampler, uint32_t high, uint32_t *count, uint32_t waiting,
                           uint32_t runnable, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t asked = 0, may_ask = WOKEN_LEAST, woken = 0, looks = high < WOKEN_LOOKS ? high : WOKEN_LOOKS;
  if (!waiting || qzi_ask_machine(&kernel->asker) <= runnable + 1) return 0;
  for (uint32_t n = 0, index = kernel->woken_cursor; n < looks && asked < may_ask; n++, index++) {
    if (index >= high) index = 0;
    struct memo *memo = &kernel->memos[index];
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
    look(sampler, index, 0, 0, now_ns, &kernel->seen[*count]);
    *count += kernel->seen[*count].state != QZ_STATE_IDLE;
  }
  for (uint32_t k = 0; k < *count; k++) {
    struct seen *seen = &kernel->seen[k];
    if (!seen->waits) continue;
    const struct memo *memo = &kernel->memos[seen->index];
    if (!memo->woken || memo->woken != sampler->in.memos[seen->index].word) continue;
    seen->woken = 1;
    seen->state = QZ_STATE_READY;
    woken++;
  }
  return woken;
}

/* ---- a snapshot ---- */

/* The tuple of a thread: who could run, but does not execute, is ready. */
static int find_tuple(struct qzi_sampler *sampler, struct seen *seen, const struct qzi_counts *counts) {
  int runnable = seen->state <= QZ_STATE_READY;
  struct qzi_tuple_key key = {.stack = seen->node,
                              .thread = seen->look.entity,
                              .state = runnable && !seen->executes ? QZ_STATE_READY : seen->state,
                              .waiting = waiting_of(sampler, seen),
                              .torn = (uint8_t)seen->look.torn,
                              .kernel = seen->kernel,
                              .busy = (uint16_t)counts->useful,
                              .spinning = (uint16_t)counts->spinning,
                              .runnable = counts->runnable};
  if (seen->index == NOBODY) return (seen->tuple = qzi_tuple_find(&sampler->tuples, &key)) ? 0 : -1;
  struct memo *memo = &sampler->kernel->memos[seen->index];
  if (memo->last_tuple && qzi_tuple_same(&memo->last_key, &key)) {
    seen->tuple = memo->last_tuple;
    return 0;
  }
  if (!(seen->tuple = qzi_tuple_find(&sampler->tuples, &key))) return -1;
  memo->last_key = key;
  memo->last_tuple = seen->tuple;
  return 0;
}

/* Its queue is the session's, but for those that spin, and those that have been woken. */
static void note_queue(struct qzi_sampler *sampler, const struct seen *seen) {
  if (!seen->object || seen->object >= qz_session_object_high(sampler->view)) return;
  struct qzi_object_memo *memo = qzi_object_in_round(sampler, seen->object);
  memo->spinners += seen->state == QZ_STATE_SPINNING;
  memo->woken += seen->woken;
}

/* ---- who executes ---- */

static int is_runnable(const struct seen *seen) { return seen->state <= QZ_STATE_READY; }

static void tell(struct qzi_kernel *kernel, struct seen *seen, struct qzi_counts *counts) {
  seen->executes = 1;
  if (seen->state == QZ_STATE_READY) seen->state = QZ_STATE_USEFUL;
  if (seen->state == QZ_STATE_SPINNING)
    counts->spinning++;
  else
    counts->useful++;
  if (seen->index == NOBODY) {
    struct qzi_run_account ended = {0};
    qzi_run_account_attribute(&kernel->accounts, &ended);
    return;
  }
  qzi_run_account_attribute(&kernel->accounts, &kernel->memos[seen->index].account);
  int spins = seen->state == QZ_STATE_SPINNING;
  uint32_t node =
    qzi_tracker_executed(kernel->tracker, seen->index, kernel->accounts.snapshot_ns, spins, &seen->kernel);
  if (node) seen->node = node;
}

static int64_t owed(const struct qzi_kernel *kernel, uint32_t place) {
  return kernel->memos[kernel->seen[place].index].account.owed_ns;
}

/* Heap of places, the one that is owed most on top. */
static void sift(const struct qzi_kernel *kernel, uint32_t count, uint32_t at) {
  uint32_t *order = kernel->order, place = order[at];
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && owed(kernel, order[child + 1]) > owed(kernel, order[child])) child++;
    if (owed(kernel, order[child]) <= owed(kernel, place)) break;
    order[at] = order[child];
  }
  order[at] = place;
}

/* Of the threads that could run, those execute to which most is owed. (One that was woken, or made, and has had no CPU
 * since does not.) */
static void choose_runnable(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t candidates = 0, processors = sampler->view->processors;
  for (uint32_t k = 0; k < count; k++)
    if (is_runnable(&kernel->seen[k]) && !kernel->seen[k].woken) kernel->order[candidates++] = k;
  uint64_t fair_ns =
    candidates > processors ? kernel->accounts.snapshot_ns * processors / candidates : kernel->accounts.snapshot_ns;
  for (uint32_t k = 0; k < candidates; k++)
    qzi_run_account_guess(&kernel->memos[kernel->seen[kernel->order[k]].index].account, fair_ns);
  for (uint32_t k = candidates / 2; k-- > 0;) sift(kernel, candidates, k);
  for (; candidates && counts->useful + counts->spinning < processors; sift(kernel, candidates, 0)) {
    struct seen *seen = &kernel->seen[kernel->order[0]];
    kernel->order[0] = kernel->order[--candidates];
    if (qzi_run_account_may(&kernel->accounts, &kernel->memos[seen->index].account)) tell(kernel, seen, counts);
    if (!candidates) break;
  }
}

/* A thread that sleeps, or has ended, counts as executing where the kernel says that it did more than looks have seen.
 * Its number is among the runnable ones then. */
static uint32_t choose_others(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t processors = sampler->view->processors;
  int64_t owed_ns = qzi_resting_owed_ns(kernel->resting);
  for (uint32_t k = 0; k < count; k++) {
    struct seen *seen = &kernel->seen[k];
    const struct qzi_run_account *account = &kernel->memos[seen->index].account;
    if (seen->executes || (is_runnable(seen) && !seen->woken) || counts->useful + counts->spinning >= processors ||
        !qzi_run_account_must(&kernel->accounts, account)) {
      owed_ns += account->owed_ns;
      continue;
    }
    counts->runnable += !is_runnable(seen);
    seen->instead = seen->state;
    seen->state = QZ_STATE_USEFUL;
    tell(kernel, seen, counts);
    owed_ns += account->owed_ns;
  }
  if (!kernel->gone.entity || counts->useful + counts->spinning >= processors ||
      !qzi_run_accounts_must(&kernel->accounts, owed_ns))
    return count;
  kernel->seen[count] = (struct seen){.look = {.node = kernel->gone.node, .entity = kernel->gone.entity},
                                      .node = kernel->gone.node,
                                      .index = NOBODY,
                                      .state = QZ_STATE_USEFUL};
  tell(kernel, &kernel->seen[count], counts);
  counts->runnable++;
  return count + 1;
}

/* CPUs are alike here: the k-th of them was busy while at least k were. */
static void note_processors(struct qzi_sampler *sampler, const struct qzi_counts *counts, uint64_t ns) {
  for (uint32_t p = 0; p < sampler->view->processors; p++) {
    struct qz_processor_stats *stats = &sampler->file->processors[p];
    sampler->visits[p].state = QZ_STATE_IDLE;
    *(p < counts->useful                      ? &stats->useful_ns
      : p < counts->useful + counts->spinning ? &stats->spinning_ns
                                              : &stats->idle_ns) += ns;
  }
}

/* Who ran, for those who ask later in this snapshot what happened meanwhile. */
static void note_running(struct qzi_sampler *sampler, uint32_t count) {
  uint32_t p = 0;
  for (uint32_t k = 0; k < count; k++) {
    const struct seen *seen = &sampler->kernel->seen[k];
    if (!seen->executes || seen->state == QZ_STATE_SPINNING) continue;
    struct qzi_visit *visit = &sampler->visits[p++];
    visit->state = QZ_STATE_USEFUL;
    visit->node = seen->node;
    visit->entity = seen->look.entity;
  }
}

/* What look() reads first of a thread: of thousands it is in no cache. */
static void fetch(const struct qzi_sampler *sampler, uint32_t index) {
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  __builtin_prefetch(thread);
  __builtin_prefetch(&thread->word);
  __builtin_prefetch(&sampler->in.memos[index]);
  __builtin_prefetch(&sampler->kernel->memos[index]);
  __builtin_prefetch(&sampler->kernel->memos[index].task);
  qzi_tracker_fetch(sampler->kernel->tracker, index);
}

static int make_room(struct qzi_kernel *kernel, uint32_t high) {
  if (high < kernel->room) return 0;
  uint32_t room = high + high / 2 + 16;
  struct seen *all = realloc(kernel->seen, room * sizeof *all);
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
  struct memo *memo = &kernel->memos[index];
  qzi_task_state_close(&kernel->asker, &memo->task);
  qzi_tracker_gone(kernel->tracker, index);
  memo->serial = 0;
}

/* One that rests, in its turn: does it still? 1: it does; 0: it is in *seen. */
static int still_rests(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                       struct seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qzi_tuple_key *as = qzi_resting_as(kernel->resting, index);
  qzi_thread_overflows(sampler, index);
  look(sampler, index, may_ask, may_read, now_ns, seen);
  qzi_resting_owe(kernel->resting, index, kernel->memos[index].account.owed_ns);
  if (seen->state == as->state && seen->look.node == as->stack && seen->look.entity == as->thread &&
      waiting_of(sampler, seen) == as->waiting && !seen->look.torn && paid(kernel, &kernel->memos[index]))
    return 1;
  qzi_resting_wake(sampler, kernel->resting, index);
  return 0;
}

/* Looks at all threads that do not rest, and at some of those, in turn. Their number in `seen`; counts->runnable: of
 * those that could run. */
static uint32_t look_at_all(struct qzi_sampler *sampler, uint32_t high, uint64_t now_ns, struct qzi_counts *counts,
                            int *waiters) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t count = 0, runnable = 0, waiting = 0, ask = asks(kernel, high);
  kernel->reads = 0;
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
    look(sampler, k, turn < ask, read_turn < READ_LEAST, now_ns, &kernel->seen[count]);
    count += kernel->seen[count].state != QZ_STATE_IDLE;
  }
  for (uint32_t n = 0; qzi_resting_count(kernel->resting) && n < ask + READ_RESTING; n++) {
    uint32_t k = (n < ask ? kernel->cursor + n : kernel->read_cursor + n - ask) % high;
    if (qzi_resting_as(kernel->resting, k) && !still_rests(sampler, k, n < ask, n >= ask, now_ns, &kernel->seen[count]))
      count += kernel->seen[count].state != QZ_STATE_IDLE;
  }
  for (uint32_t k = 0; k < count; k++) {
    const struct seen *seen = &kernel->seen[k];
    struct memo *memo = &kernel->memos[seen->index];
    memo->place = k;
    memo->round = sampler->round;
    runnable += is_runnable(seen);
    *waiters |= seen->object != 0;
    waiting += seen->waits;
  }
  uint32_t rest = qzi_resting_waiters(kernel->resting);
  *waiters |= rest != 0;
  kernel->cursor = high > ask ? (kernel->cursor + ask) % high : 0;
  kernel->read_cursor = high > READ_LEAST ? (kernel->read_cursor + READ_LEAST) % high : 0;
  counts->runnable = runnable + find_woken(sampler, high, &count, waiting + rest, runnable, now_ns);
  return count;
}

/* As it was when it was looked at. */
static void look_again(struct seen *seen) {
  seen->executes = seen->kernel = 0;
  seen->node = seen->look.node;
  if (!seen->instead) return;
  seen->state = seen->instead;
  seen->instead = 0;
}

/* Who runs, for a thread that waits for what nobody reports: one of those that do, by turns. */
static const struct seen *wait_overlap(const struct qzi_kernel *kernel, uint32_t count, uint64_t turn) {
  uint32_t running = 0;
  for (uint32_t k = 0; k < count; k++) running += kernel->seen[k].executes && kernel->seen[k].state == QZ_STATE_USEFUL;
  if (!running) return NULL;
  turn %= running;
  for (uint32_t k = 0; k < count; k++)
    if (kernel->seen[k].executes && kernel->seen[k].state == QZ_STATE_USEFUL && !turn--) return &kernel->seen[k];
  return NULL;
}

/* What each thread was seen to do in this part of the snapshot, should it be on the time path. */
static void note_path(struct qzi_sampler *sampler, uint32_t count) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_path *path = &sampler->path;
  qzi_path_begin(path, sampler->file->head->elapsed_ns);
  for (uint32_t k = 0; path->page && k < count; k++) {
    const struct seen *seen = &kernel->seen[k];
    if (seen->index == NOBODY) continue;
    unsigned state = seen->instead ? seen->instead : seen->state;
    if (!seen->executes && is_runnable(seen)) state = QZ_STATE_READY;
    const struct seen *instead =
      state == QZ_STATE_BLOCKED && seen->outside && !seen->woken ? wait_overlap(kernel, count, sampler->round) : NULL;
    if (instead)
      qzi_path_seen(path, seen->index, instead->node, instead->look.entity, instead->state, 1);
    else
      qzi_path_seen(path, seen->index, seen->node, seen->look.entity, state, 0);
  }
}

/* Adds one part of a snapshot: who executes is chosen for each. */
static int add_part(struct qzi_sampler *sampler, uint64_t end_ns, uint32_t looked, int waiters,
                    struct qzi_counts counts) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint64_t ns;
  choose_runnable(sampler, looked, &counts);
  uint32_t count = choose_others(sampler, looked, &counts);
  for (uint32_t k = 0; k < count; k++)
    if (find_tuple(sampler, &kernel->seen[k], &counts)) return -1;
  if (qzi_snapshot_begin(sampler, end_ns, &counts, &ns)) return -1;
  if (!counts.more) qzi_holders_begin(sampler->holders); /* once a snapshot */
  for (uint32_t k = 0; k < looked && waiters && !counts.more; k++)
    qzi_holders_add(sampler, sampler->holders, kernel->seen[k].look.node, kernel->seen[k].look.entity,
                    kernel->seen[k].outside ? 0 : kernel->seen[k].object);
  for (uint32_t k = 0; k < count; k++) {
    const struct seen *seen = &kernel->seen[k];
    if (!counts.more && (seen->state == QZ_STATE_SPINNING || seen->woken) && !seen->outside) note_queue(sampler, seen);
    if (seen->outside && !seen->woken && !seen->instead)
      qzi_external_wait(&sampler->in, seen->object);
    else if (seen->executes && seen->state != QZ_STATE_SPINNING)
      qzi_timeline_top(&sampler->timeline, sampler->file->stacks[seen->node].entity, ns);
    qzi_tuple_add(&sampler->tuples, seen->tuple, counts.runnable, ns);
    if (k < looked) qzi_thread_seen(sampler, seen->index, ns);
    if (k < looked && seen->executes) kernel->gone = (struct gone){seen->node, seen->look.entity};
  }
  note_processors(sampler, &counts, ns);
  note_running(sampler, count);
  qzi_resting_add(kernel->resting, &counts, ns);
  qzi_snapshot_end(sampler, end_ns, &counts, ns);
  qzi_externals_seen(sampler, ns);
  note_path(sampler, looked);
  if (!counts.more) qzi_path_advance(&sampler->path, qzi_resting_awake(kernel->resting));
  return 0;
}

/* Visits all threads and adds what was seen. */
static int kernel_add(struct qzi_sampler *sampler, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t high = qz_session_thread_high(sampler->view);
  uint64_t begin_ns = sampler->last_ns, whole_ns = now_ns - begin_ns, parts = (whole_ns + PART_NS - 1) / PART_NS;
  if (!parts) parts = 1;
  if (parts > PARTS_MOST) parts = PARTS_MOST;
  if (parts * high > PARTS_OF) parts = PARTS_OF / high ? PARTS_OF / high : 1;
  struct qzi_counts counts = {.whole_ns = whole_ns};
  int waiters = 0;
  if (make_room(kernel, high)) return -1;
  sampler->round++;
  qzi_tracker_begin(kernel->tracker, now_ns);
  kernel->whole_ns = whole_ns;
  uint64_t took_ns = kernel->accounts.took_ns;
  qzi_run_accounts_begin(&kernel->accounts, now_ns, whole_ns / parts, high);
  sampler->apart_ns += kernel->accounts.took_ns - took_ns;
  uint32_t looked = look_at_all(sampler, high, now_ns, &counts, &waiters);
  for (uint64_t k = 0; k < parts; k++) {
    uint64_t end_ns = k + 1 < parts ? begin_ns + whole_ns / parts * (k + 1) : now_ns;
    counts.more = k + 1 < parts;
    for (uint32_t at = 0; k && at < looked; at++) look_again(&kernel->seen[at]);
    if (add_part(sampler, end_ns, looked, waiters, counts)) return -1;
  }
  sampler->file->head->visits += looked + qzi_resting_count(kernel->resting);
  if (qzi_resting_due(kernel->resting, now_ns)) let_rest(sampler, looked, now_ns);
  return 0;
}

static void kernel_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  (void)sampler, (void)first, (void)end; /* kernel_add does */
}

static uint32_t kernel_node(const struct qzi_sampler *sampler, uint32_t index) {
  return qzi_tracker_node(sampler->kernel->tracker, index);
}

static void kernel_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site) {
  qzi_tracker_taken(sampler->kernel->tracker, key, site);
}

static uint64_t kernel_walks_ns(const struct qzi_sampler *sampler) {
  return qzi_tracker_walks_ns(sampler->kernel->tracker);
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
  .settle = kernel_settle,
  .node = kernel_node,
  .blame = qzi_blame_holders,
  .taken = kernel_taken,
  .walks_ns = kernel_walks_ns,
};
