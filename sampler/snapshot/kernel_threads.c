/* Snapshots of programs whose threads are kernel threads (QZ_PUBLISHER_PTHREAD): every live thread record is visited,
 * and the kernel is asked which of those that call themselves useful are asleep, and which of those that wait are runnable. See snapshot.h.
 *
 * Owns:    what was seen of each thread last.
 * Writer and reader: the aggregating thread.
 * Must not: believe the kernel over a record on what its thread waits for, only on whether it has been woken; add up to more than P processors.
 *
 * With n threads runnable and not spinning, and m spinning, b = min(n, P) and s = min(m, P - b). Of the n, those that have
 * been woken, or made, and have not run since are on no CPU: the others are charged min(others, P) / others of the time as useful
 * and the rest as ready, the woken ones what is left of b. Each of the m is charged s/m as spinning and the rest as ready.
 * What integers leave over goes round, so that the shares of a snapshot sum exactly to b and s times its weight
 * (docs/metrics.md, sections 1 and 5).
 */
#include "kernel_threads.h"

#include <stdlib.h>
#include "thread_tracker.h"
#include "sampler/profile/external_objects.h"
#include "sampler/linux/task_state.h"

#define LOAD(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define TRIES_NS   UINT64_C(50000) /* who has run longer than this without a try does something else */
#define ASKED_MOST 32u  /* threads of which the kernel is asked in one snapshot, in turn; of the others the last answer holds. (Asking
                         * more makes a snapshot dearer, so that there are fewer: each thread is asked no more often.) */
#define AHEAD      4u   /* threads */
#define WOKEN_LEAST 4u  /* of those that say that they wait so many are asked about, in turn, ... */
#define WOKEN_FOUND 4u  /* ... and so many more for each that is found woken, ... */
#define WOKEN_MOST  32u /* ... but no more than these */

/* What is remembered of a thread record. */
struct memo {
  uint64_t serial;
  uint64_t tries;      /* as in the record, at the last snapshot */
  uint64_t spun_ns;    /* its processor time when it was seen to try in vain; 0: it was not */
  struct qzi_tuple_key last_key; /* of its last tuple, */
  uint32_t last_tuple; /* and that; 0: none */
  uint64_t woken;      /* packed word of its record when it was found runnable though it says that it waits; 0: it was not */
  struct qzi_told told;
};

/* A thread in the snapshot that is under way. */
struct seen {
  struct qzi_look look;
  uint32_t index, object, tuple, ready_tuple;
  uint8_t state;       /* enum qz_state; READY: runnable, counted with the useful ones */
  uint8_t outside;     /* its wait is known from the kernel alone: `object` is a futex */
  uint8_t waits;       /* its record says that it is blocked */
  uint8_t woken;       /* it is runnable, and has had no CPU since it waited (for `object`, if its record says so) or was made */
};

struct qzi_kernel {
  struct memo *memos;
  size_t memos_bytes;
  struct seen *seen;
  struct qzi_follow *follow;
  struct qzi_asker asker;
  uint32_t room, cursor, woken_cursor;
};

struct qzi_kernel *qzi_kernel_open(struct qzi_sampler *sampler) {
  const struct qz_session_view *view = sampler->view;
  struct qzi_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  kernel->memos_bytes = (size_t)view->thread_table.capacity * sizeof *kernel->memos;
  qzi_asker_open(&kernel->asker, sampler->file->head);
  kernel->memos = qzi_lazy_memory(kernel->memos_bytes);
  kernel->follow = qzi_follow_open(sampler);
  if (kernel->memos && kernel->follow) return kernel;
  qzi_follow_close(kernel->follow);
  qzi_lazy_free(kernel->memos, kernel->memos_bytes);
  free(kernel);
  return NULL;
}

void qzi_kernel_close(struct qzi_kernel *kernel) {
  if (!kernel) return;
  for (size_t k = 0; kernel->asker.open && k < kernel->memos_bytes / sizeof *kernel->memos; k++)
    qzi_told_close(&kernel->asker, &kernel->memos[k].told);
  qzi_asker_close(&kernel->asker);
  qzi_follow_close(kernel->follow);
  qzi_lazy_free(kernel->memos, kernel->memos_bytes);
  free(kernel->seen);
  free(kernel);
}

void qzi_kernel_prepare(struct qzi_kernel *kernel) { qzi_follow_prepare(kernel->follow); }
void qzi_kernel_start(struct qzi_kernel *kernel) { qzi_follow_start(kernel->follow); }

/* ---- one thread ---- */

/* The thread tried the same lock (or yielded, in the same loop), in vain, several times since the last snapshot, and nothing
 * else: it spins. It still does if it has had no CPU since it last was seen to. The object stands on its path, as if it had
 * been asked for. */
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
  uint32_t name = LOAD(&qz_session_thread(sampler->view, index)->name);
  if (!memo->entity || name == memo->name) return;
  memo->name = name;
  struct qz_entity *entity = &sampler->file->entities[memo->entity];
  if (entity->instances == 1 && entity->record == index) entity->name = qzi_intern_name(&sampler->in, name);
}

/* State of the thread `index`, or IDLE: none there. */
static void look(struct qzi_sampler *sampler, uint32_t index, int may_ask, uint64_t now_ns, struct seen *seen) {
  struct qzi_kernel *kernel = sampler->kernel;
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  struct memo *memo = &kernel->memos[index];
  seen->state = QZ_STATE_IDLE;
  seen->index = index;
  seen->waits = seen->woken = 0;
  qzi_thread_look(sampler, index, &seen->look);
  if (!seen->look.serial || !seen->look.entity) return;
  look_at_name(sampler, index);
  uint32_t tid = LOAD(&thread->os_tid);
  uint64_t tries = LOAD(&thread->tries);
  if (memo->serial != seen->look.serial) {
    memo->serial = seen->look.serial;
    memo->tries = memo->spun_ns = 0;
    memo->woken = 0;
    memo->told.answer = QZI_AWAKE;
    memo->told.unrun = 0;
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
    if (may_ask) qzi_ask(&kernel->asker, &memo->told, tid);
    if (memo->told.answer == QZI_GONE) state = QZ_STATE_IDLE;
    if (memo->told.answer == QZI_ASLEEP) state = QZ_STATE_IO;
    if (memo->told.answer == QZI_ON_FUTEX) state = QZ_STATE_BLOCKED;
    seen->woken = state == QZ_STATE_USEFUL && memo->told.unrun;
    uint32_t tried = state == QZ_STATE_USEFUL && !seen->woken ? tries_for(kernel, memo, tid, tries) : 0;
    if (tried) {
      state = QZ_STATE_SPINNING;
      seen->object = tried;
    }
  }
  if ((state == QZ_STATE_USEFUL || state == QZ_STATE_READY) && !tid) seen->woken = 1; /* made, but it has not begun */
  memo->tries = tries;
  int outside = 0;
  if (state != QZ_STATE_IDLE)
    outside = qzi_follow(kernel->follow, index, &seen->look, state, published, &memo->told.call, &seen->object, now_ns);
  uint32_t loop = state == QZ_STATE_USEFUL && !seen->woken ? qzi_follow_loop(kernel->follow, index) : 0;
  if (loop) {
    seen->object = loop;
    seen->state = QZ_STATE_SPINNING;
    seen->outside = 1;
    seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(QZ_KIND_FUTEX, seen->object));
    return;
  }
  const struct qz_object *object = state == QZ_STATE_SPINNING && !outside ? qz_session_object(sampler->view, seen->object) : NULL;
  if (object && !qzi_waits_at_top(sampler, seen->look.node, seen->object))
    seen->look.node = qzi_intern_child(&sampler->in, seen->look.node, QZ_KEY(LOAD(&object->kind), seen->object));
  seen->outside = (uint8_t)outside;
  seen->state = (uint8_t)state;
}

/* ---- woken threads ---- */

/* Asks the kernel about threads that say that they wait: one that is runnable has been woken, and waits for a CPU. Where there
 * are many some are asked, in turn, and more of them where some are found woken; such a thread is, until its record changes.
 * `runnable`: those that are known to be; where nobody else on the machine is but the sampler, none has been woken. */
static uint32_t find_woken(struct qzi_sampler *sampler, uint32_t count, uint32_t waiting, uint32_t runnable) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t asked = 0, may_ask = WOKEN_LEAST, woken = 0, begin = 0;
  if (!waiting || qzi_ask_machine(&kernel->asker) <= runnable + 1) return 0;
  while (begin < count && kernel->seen[begin].index < kernel->woken_cursor) begin++;
  for (uint32_t n = 0, k = begin; n < count; n++, k++) {
    if (k == count) k = 0;
    struct seen *seen = &kernel->seen[k];
    if (!seen->waits) continue;
    struct memo *memo = &kernel->memos[seen->index];
    uint64_t word = sampler->in.memos[seen->index].word;
    if (asked < may_ask) {
      uint32_t tid = LOAD(&qz_session_thread(sampler->view, seen->index)->os_tid);
      memo->woken = qzi_ask_runnable(&kernel->asker, &memo->told, tid) ? word : 0;
      if (memo->woken && (may_ask += WOKEN_FOUND) > WOKEN_MOST) may_ask = WOKEN_MOST;
      asked++;
      kernel->woken_cursor = seen->index + 1;
    }
    if (!memo->woken || memo->woken != word) continue;
    seen->woken = 1;
    seen->state = QZ_STATE_READY;
    woken++;
  }
  return woken;
}

/* ---- a snapshot ---- */

/* Tuples for a thread: `part` says whether it has some of the CPUs' time in its state, `rest` whether it is ready for some. */
static int find_tuples(struct qzi_sampler *sampler, struct seen *seen, unsigned busy, unsigned spinning, uint32_t runnable,
                       int part, int rest) {
  uint8_t waiting = seen->woken ? QZ_WAITING_WOKEN : QZ_WAITING;
  struct qzi_tuple_key key = {.stack = seen->look.node,
                              .thread = seen->look.entity,
                              .state = seen->state == QZ_STATE_READY ? QZ_STATE_USEFUL : seen->state,
                              .waiting = qzi_waits_at_top(sampler, seen->look.node, seen->object) ? waiting : 0,
                              .torn = (uint8_t)seen->look.torn,
                              .busy = (uint16_t)busy,
                              .spinning = (uint16_t)spinning,
                              .runnable = runnable};
  seen->tuple = seen->ready_tuple = 0;
  struct memo *memo = &sampler->kernel->memos[seen->index];
  if (part && memo->last_tuple && qzi_tuple_same(&memo->last_key, &key)) seen->tuple = memo->last_tuple;
  else if (part && !(seen->tuple = qzi_tuple_find(&sampler->tuples, &key))) return -1;
  if (part) {
    memo->last_key = key;
    memo->last_tuple = seen->tuple;
  }
  key.state = QZ_STATE_READY;
  return rest && !(seen->ready_tuple = qzi_tuple_find(&sampler->tuples, &key)) ? -1 : 0;
}

/* Its queue is the session's, but for those that spin, and those that have been woken. */
static void note_queue(struct qzi_sampler *sampler, const struct seen *seen) {
  if (!seen->object || seen->object >= qz_session_object_high(sampler->view)) return;
  struct qzi_object_memo *memo = qzi_object_in_round(sampler, seen->object);
  memo->spinners += seen->state == QZ_STATE_SPINNING;
  memo->woken += seen->woken;
}

/* How many threads there are of each sort, and how the CPUs are shared among them. */
struct shares {
  uint32_t useful, woken, spinners; /* runnable threads */
  uint32_t busy, to_useful, spinning; /* processors; of the busy ones, those of the useful threads */
};

static struct shares shares_of(uint32_t useful, uint32_t woken, uint32_t spinners, uint32_t processors) {
  struct shares its = {.useful = useful, .woken = woken, .spinners = spinners};
  its.busy = useful + woken < processors ? useful + woken : processors;
  its.to_useful = useful < processors ? useful : processors;
  its.spinning = spinners < processors - its.busy ? spinners : processors - its.busy;
  return its;
}

/* CPUs are alike here: the k-th of them was busy while at least k were. */
static void note_processors(struct qzi_sampler *sampler, const struct shares *its, uint64_t ns) {
  for (uint32_t p = 0; p < sampler->view->processors; p++) {
    struct qz_processor_stats *stats = &sampler->file->processors[p];
    sampler->visits[p].state = QZ_STATE_IDLE;
    *(p < its->busy ? &stats->useful_ns : p < its->busy + its->spinning ? &stats->spinning_ns : &stats->idle_ns) += ns;
  }
}

/* Who ran, for those who ask later in this snapshot what happened meanwhile: woken threads where nobody else can. */
static void note_running(struct qzi_sampler *sampler, uint32_t count, uint32_t busy) {
  uint32_t p = 0;
  for (int woken = 0; woken < 2; woken++)
    for (uint32_t k = 0; k < count && p < busy; k++) {
      const struct seen *seen = &sampler->kernel->seen[k];
      if (seen->woken != woken || (seen->state != QZ_STATE_USEFUL && seen->state != QZ_STATE_READY)) continue;
      struct qzi_visit *visit = &sampler->visits[p++];
      visit->state = QZ_STATE_USEFUL;
      visit->node = seen->look.node;
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
  __builtin_prefetch(&sampler->kernel->memos[index].told);
  qzi_follow_fetch(sampler->kernel->follow, index);
}

int qzi_kernel_add(struct qzi_sampler *sampler, uint64_t now_ns) {
  struct qzi_kernel *kernel = sampler->kernel;
  uint32_t high = qz_session_thread_high(sampler->view), count = 0, processors = sampler->view->processors;
  if (high > kernel->room) {
    uint32_t room = high + high / 2 + 16;
    struct seen *all = realloc(kernel->seen, room * sizeof *all);
    if (!all) return -1;
    kernel->seen = all;
    kernel->room = room;
  }
  sampler->round++;
  qzi_follow_begin(kernel->follow, now_ns);
  uint32_t useful = 0, unrun = 0, spinners = 0, waiters = 0, waiting = 0;
  for (uint32_t k = 0; k < high; k++) {
    uint32_t turn = k >= kernel->cursor ? k - kernel->cursor : k + high - kernel->cursor;
    struct seen *seen = &kernel->seen[count];
    if (k + AHEAD < high) fetch(sampler, k + AHEAD);
    if (LOAD_ACQUIRE(&qz_session_thread(sampler->view, k)->serial) == 0) {
      qzi_told_close(&kernel->asker, &kernel->memos[k].told);
      qzi_follow_gone(kernel->follow, k);
      continue;
    }
    qzi_thread_overflows(sampler, k);
    look(sampler, k, turn < ASKED_MOST, now_ns, seen);
    if (seen->state == QZ_STATE_IDLE) continue;
    useful += !seen->woken && (seen->state == QZ_STATE_USEFUL || seen->state == QZ_STATE_READY);
    unrun += seen->woken;
    spinners += seen->state == QZ_STATE_SPINNING;
    waiters += seen->object != 0;
    waiting += seen->waits;
    count++;
  }
  kernel->cursor = high > ASKED_MOST ? (kernel->cursor + ASKED_MOST) % high : 0;
  const struct shares its = shares_of(useful, unrun + find_woken(sampler, count, waiting, useful + unrun + spinners), spinners, processors);
  struct qzi_counts counts = {.useful = its.busy, .spinning = its.spinning, .runnable = useful + its.woken + spinners};
  for (uint32_t k = 0; k < count; k++) {
    struct seen *seen = &kernel->seen[k];
    int part = 1, rest = 0;
    if (seen->woken) {
      part = its.busy > its.to_useful;
      rest = its.busy - its.to_useful < its.woken;
    } else if (seen->state == QZ_STATE_SPINNING) {
      part = its.spinning > 0;
      rest = its.spinning < spinners;
    } else if (seen->state <= QZ_STATE_READY) {
      rest = its.to_useful < useful;
    }
    if (find_tuples(sampler, seen, its.busy, its.spinning, counts.runnable, part, rest)) return -1;
  }
  uint64_t ns;
  if (qzi_snapshot_begin(sampler, now_ns, &counts, &ns)) return -1;
  qzi_holders_begin(sampler->holders);
  for (uint32_t k = 0; k < count && waiters; k++)
    qzi_holders_add(sampler, sampler->holders, kernel->seen[k].look.node, kernel->seen[k].look.entity,
                    kernel->seen[k].outside ? 0 : kernel->seen[k].object);
  uint32_t nth_useful = 0, nth_woken = 0, nth_spinner = 0;
  for (uint32_t k = 0; k < count; k++) {
    struct seen *seen = &kernel->seen[k];
    uint64_t part = ns;
    if (seen->state == QZ_STATE_SPINNING || seen->woken) {
      part = seen->woken ? qzi_share((its.busy - its.to_useful) * ns, its.woken, nth_woken++) : qzi_share(its.spinning * ns, spinners, nth_spinner++);
      if (!seen->outside) note_queue(sampler, seen);
    }
    if (seen->outside && !seen->woken) {
      qzi_external_wait(&sampler->in, seen->object);
    } else if (seen->state <= QZ_STATE_READY && seen->state != QZ_STATE_SPINNING) {
      if (!seen->woken) part = qzi_share(its.to_useful * ns, useful, nth_useful++);
      qzi_timeline_top(&sampler->timeline, sampler->file->stacks[seen->look.node].entity, part);
    }
    if (part) qzi_tuple_add(&sampler->tuples, seen->tuple, counts.runnable, part);
    if (part < ns) qzi_tuple_add(&sampler->tuples, seen->ready_tuple, counts.runnable, ns - part);
    qzi_thread_seen(sampler, seen->index, ns);
  }
  note_processors(sampler, &its, ns);
  note_running(sampler, count, its.busy);
  sampler->file->head->visits += count;
  qzi_snapshot_end(sampler, now_ns, &counts, ns);
  qzi_externals_seen(sampler, ns);
  return 0;
}

void qzi_kernel_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site) {
  qzi_follow_taken(sampler->kernel->follow, key, site);
}

uint64_t qzi_kernel_walks_ns(const struct qzi_kernel *kernel) { return qzi_follow_walks_ns(kernel->follow); }

uint32_t qzi_kernel_node(const struct qzi_sampler *sampler, uint32_t index) {
  return qzi_follow_node(sampler->kernel->follow, index);
}
