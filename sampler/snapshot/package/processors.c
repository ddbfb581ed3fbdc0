/* Snapshots of programs whose threads run on the processors of a thread package (QZ_PUBLISHER_THREADLIB): processors
 * are visited, and what was seen there is added. Threads without a processor are visited in turn (offcpu_threads.c).
 * See snapshot.h. */
#include "sampler/snapshot/blame.h"
#include "processor_loops.h"
#include "sampler/snapshot/round.h"
#include "sampler/snapshot/sync_objects.h"
#include "sampler/profile/external_objects.h"
#include "sampler/profile/interned_stacks.h"

/* ---- phase 1: copying ---- */

/* Copies the stack of the thread on the visited processor. Returns 1 if the copy is consistent. If the packed word is
 * that of the last copy, the stack is unchanged, because every push and pop changes the word. */
static int visit_thread(const struct qzi_sampler *sampler, struct qzi_visit *visit) {
  const struct qz_session_view *view = sampler->view;
  uint32_t index = QZ_NOW_THREAD_PLUS_1(visit->now) - 1;
  const struct qz_thread *thread = qz_session_thread(view, index);
  if (!thread) {
    visit->serial = 0;
    visit->invalid = 1;
    return 1;
  }
  uint64_t serial = QZ_LOAD_ACQUIRE(&thread->serial);
  visit->object = visit->state == QZ_STATE_SPINNING ? QZ_STATE_OBJECT(QZ_LOAD(&thread->state)) : 0;
  if (index == visit->thread && serial == visit->serial && QZ_LOAD_ACQUIRE(&thread->word) == visit->word &&
      !(visit->word & QZ_WORD_FLUX))
    return 1;
  struct qz_stack_copy copy;
  int consistent = qz_session_copy_stack(view, thread, visit->keys, visit->held, &copy);
  visit->thread = index;
  visit->serial = serial;
  visit->word = consistent ? copy.word : QZI_NO_WORD;
  visit->held = copy.depth;
  qzi_prints(&sampler->in, visit->keys, visit->prints, copy.common, copy.depth);
  if (copy.invalid) visit->invalid = 1;
  return consistent;
}

/* Overhead is one state; its purpose is kept separately. */
static void take_state(struct qzi_visit *visit, unsigned state) {
  int of_overhead = state == QZ_STATE_MAKING || state == QZ_STATE_WAKING;
  visit->overhead = state == QZ_STATE_MAKING   ? QZ_KERNEL_THREAD
                    : state == QZ_STATE_WAKING ? QZ_KERNEL_LOCK
                                               : QZ_KERNEL_NONE;
  visit->state = (uint8_t)(of_overhead ? QZ_STATE_OVERHEAD : state);
  if (visit->state <= QZ_STATE_SPINNING) return;
  visit->invalid = 1;
  visit->state = QZ_STATE_IDLE;
}

static void processors_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  const struct qz_session_view *view = sampler->view;
  const struct qz_processor *next = qz_session_processor(view, first);
  for (uint32_t p = first; p < end; p++) {
    const struct qz_processor *processor = next;
    struct qzi_visit *visit = &sampler->visits[p];
    if (p + 1 < end) {
      next = qz_session_processor(view, p + 1);
      __builtin_prefetch(next);
    }
    visit->invalid = 0;
    visit->torn = 0;
    visit->retries = 0;
    for (;;) {
      visit->now = QZ_LOAD_ACQUIRE(&processor->now);
      take_state(visit, QZ_NOW_STATE(visit->now));
      int consistent = 1;
      if (visit->state == QZ_STATE_IDLE || QZ_NOW_THREAD_PLUS_1(visit->now) == 0) {
        visit->serial = 0;
        visit->word = QZI_NO_WORD;
        visit->object = 0;
      } else {
        consistent = visit_thread(sampler, visit);
      }
      if (consistent && QZ_LOAD(&processor->now) == visit->now) break;
      if (visit->retries == QZ_COPY_RETRIES) {
        visit->torn = 1;
        visit->word = QZI_NO_WORD;
        break;
      }
      visit->retries++;
    }
    visit->ready = QZ_LOAD(&processor->enqueued) - QZ_LOAD(&processor->dequeued);
  }
}

/* ---- phase 2: adding ---- */

static struct qzi_counts count_states(const struct qzi_sampler *sampler) {
  struct qzi_counts counts = {0};
  int64_t ready = QZ_LOAD(&qz_session_head(sampler->view)->unplaced);
  uint32_t processors = sampler->view->processors;
  for (uint32_t p = 0; p < processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    counts.useful += visit->state == QZ_STATE_USEFUL;
    counts.overhead += visit->state == QZ_STATE_OVERHEAD;
    counts.spinning += visit->state == QZ_STATE_SPINNING;
    counts.running += visit->state != QZ_STATE_IDLE && visit->serial != 0;
    counts.retries += visit->retries;
    counts.torn += visit->torn;
    counts.invalid += visit->invalid;
    ready += (int64_t)visit->ready;
  }
  /* The counters of different processors are read one after another, so their sum may be off by what happened in
   * between; implausible values must not be used. */
  int64_t most = sampler->view->thread_table.capacity;
  if (ready < 0) ready = 0;
  if (ready > most) {
    ready = 0;
    counts.invalid++;
  }
  counts.runnable = counts.running + (uint32_t)ready;
  return counts;
}

/* Finds node and entity of what one processor runs. */
static void resolve(struct qzi_sampler *sampler, struct qzi_visit *visit, uint32_t processor) {
  struct qzi_interner *in = &sampler->in;
  if (!visit->serial) {
    visit->node = visit->entity = 0;
    visit->node_print = 0;
    return;
  }
  uint64_t print = visit->held ? visit->prints[visit->held - 1] : 0;
  if (print != visit->node_print || !print) {
    visit->node = qzi_intern_stack(in, visit->keys, visit->prints, visit->held);
    visit->node_print = print;
  }
  visit->entity = qzi_intern_thread(in, visit->thread, visit->serial);
  struct qzi_thread_memo *memo = &in->memos[visit->thread];
  if (memo->serial != visit->serial) return; /* the thread has ended in between */
  memo->round = sampler->round;
  memo->processor = processor;
  memo->word = visit->word;
  memo->node = visit->node;
}

/* If a thread waits in an unmarked loop, it is spinning, and the loop is added to its path. */
static void look_for_loop(struct qzi_sampler *sampler, struct qzi_visit *visit, uint32_t p) {
  visit->loop = qzi_processor_loop(sampler->loops, p);
  if (!visit->loop) return;
  visit->state = QZ_STATE_SPINNING;
  visit->node = qzi_intern_child(&sampler->in, visit->node, QZ_KEY(QZ_KIND_FUTEX, visit->loop));
  visit->node_print = 0; /* the node is no longer that of the stack */
}

/* Finds where in the code of its procedures a working thread is. */
static void look_at_code(struct qzi_sampler *sampler, struct qzi_visit *visit, uint32_t p, uint64_t now_ns) {
  visit->instruction = 0;
  if (visit->state != QZ_STATE_USEFUL) return;
  uint32_t node = qzi_processor_executed(sampler->loops, p, now_ns - sampler->last_ns, &visit->instruction);
  if (node != visit->node) visit->node_print = 0;
  visit->node = node;
}

static int waits_at_top(const struct qzi_visit *visit) {
  if (visit->loop) return 1;
  if (!visit->object || !visit->held) return 0;
  uint64_t top = visit->keys[visit->held - 1];
  return (top & QZ_KEY_OBJECT) && QZ_KEY_INDEX(top) == visit->object;
}

/* Finds the tuple for the activity of one processor. Returns 0, or -1 if there is no room. */
static int find_tuple(struct qzi_sampler *sampler, struct qzi_visit *visit, const struct qzi_counts *counts) {
  struct qzi_tuple_key key = {.stack = visit->node,
                              .thread = visit->entity,
                              .state = visit->state,
                              .waiting = (uint8_t)waits_at_top(visit),
                              .torn = visit->torn,
                              .kernel = visit->overhead,
                              .busy = (uint16_t)(counts->useful + counts->overhead),
                              .spinning = (uint16_t)counts->spinning,
                              .runnable = counts->runnable};
  if (visit->tuple && qzi_tuple_same(&key, &visit->last_key)) return 0;
  visit->tuple = qzi_tuple_find(&sampler->tuples, &key);
  visit->last_key = key;
  return visit->tuple ? 0 : -1;
}

static int processors_add(struct qzi_sampler *sampler, uint64_t now_ns, uint64_t until_ns) {
  uint32_t processors = sampler->view->processors;
  (void)now_ns;
  sampler->round++;
  int sampled = qzi_processor_loops_begin(sampler->loops, until_ns);
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    visit->loop = visit->instruction = 0;
    if (visit->state == QZ_STATE_IDLE) continue;
    resolve(sampler, visit, p);
    if (sampled) {
      look_for_loop(sampler, visit, p);
      look_at_code(sampler, visit, p, until_ns);
    }
    if (visit->node != visit->top_of) {
      visit->top = qzi_timeline_entity(&sampler->timeline, visit->node);
      visit->top_of = visit->node;
    }
  }
  struct qzi_counts counts = count_states(sampler);
  /* Everything that may find no room comes first. Tuples made for a snapshot that is then left out have no weight. */
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    if (visit->state == QZ_STATE_IDLE) continue;
    if (find_tuple(sampler, visit, &counts)) return -1;
  }
  uint64_t ns;
  if (qzi_snapshot_begin(sampler, until_ns, &counts, &ns)) return -1;
  const uint64_t at_ns = sampler->file->head->elapsed_ns + ns;
  for (uint32_t p = 0; p < processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    struct qz_processor_stats *its = &sampler->file->processors[p];
    *(visit->state == QZ_STATE_USEFUL     ? &its->useful_ns
      : visit->state == QZ_STATE_OVERHEAD ? &its->overhead_ns
      : visit->state == QZ_STATE_SPINNING ? &its->spinning_ns
                                          : &its->idle_ns) += ns;
    if (visit->state == QZ_STATE_IDLE) continue;
    qzi_tuple_add(&sampler->tuples, visit->tuple, counts.runnable, ns);
    qzi_slice_add(&sampler->slices, visit->tuple, at_ns, ns);
    qzi_instruction_add(&sampler->instructions, visit->instruction, ns, counts.useful + counts.overhead, 0);
    if (visit->entity) qzi_thread_seen(sampler, visit->thread, at_ns);
    if (visit->loop) qzi_external_wait(&sampler->in, visit->loop);
    if (visit->state != QZ_STATE_SPINNING) qzi_timeline_top(&sampler->timeline, visit->top, ns);
  }
  sampler->file->head->visits += processors;
  qzi_snapshot_end(sampler, until_ns, &counts, ns);
  qzi_externals_seen(sampler, ns);
  qzi_path_begin(&sampler->path, sampler->file->head->elapsed_ns);
  for (uint32_t p = 0; p < processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    int idle = visit->state == QZ_STATE_IDLE;
    uint32_t node = idle ? 0 : visit->node, entity = idle ? 0 : visit->entity;
    qzi_path_seen(&sampler->path, p, node, entity, visit->state, 0);
    qzi_path_strand_seen(&sampler->path, p, node, entity, visit->state, 0);
  }
  qzi_path_advance(&sampler->path, NULL);
  return 0;
}

/* ---- implementation of struct qzi_threading ---- */

static int processors_open(struct qzi_sampler *sampler) {
  return (sampler->loops = qzi_processor_loops_open(sampler)) ? 0 : -1;
}
static void processors_close(struct qzi_sampler *sampler) { qzi_processor_loops_close(sampler->loops); }
static void processors_prepare(struct qzi_sampler *sampler) { qzi_processor_loops_prepare(sampler->loops); }
static void processors_start(struct qzi_sampler *sampler) { qzi_processor_loops_start(sampler->loops); }
static void processors_skip(struct qzi_sampler *sampler) { (void)sampler; }

static void processors_settle(struct qzi_sampler *sampler) { (void)sampler; }

static uint32_t processors_node(const struct qzi_sampler *sampler, uint32_t index) {
  (void)sampler, (void)index;
  return 0;
}
static void processors_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site) {
  (void)sampler, (void)key, (void)site;
}
static uint64_t processors_apart_ns(const struct qzi_sampler *sampler) {
  return qzi_processor_loops_apart_ns(sampler->loops);
}

const struct qzi_threading qzi_processor_threading = {
  .open = processors_open,
  .close = processors_close,
  .prepare = processors_prepare,
  .start = processors_start,
  .skip = processors_skip,
  .visit = processors_visit,
  .add = processors_add,
  .settle = processors_settle,
  .node = processors_node,
  .blame = qzi_blame_readers,
  .taken = processors_taken,
  .apart_ns = processors_apart_ns,
};
