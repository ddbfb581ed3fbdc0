/* Visits of processors, and adding of what they saw. See snapshot.h. */
#include "kernel_threads.h"
#include "processor_loops.h"
#include "sampler/profile/symbolize.h"
#include "sampler/profile/external_objects.h"

#include <string.h>

/* What is remembered of each processor, and scratch, in one piece. */
static int make_visits(struct qzi_sampler *sampler) {
  uint64_t processors = sampler->view->processors;
  size_t keys_bytes = (sampler->view->stack_limit * sizeof(uint64_t) + 127) & ~(size_t)127;
  size_t bytes = processors * (sizeof(struct qzi_visit) + 2 * keys_bytes) + 2 * keys_bytes;
  unsigned char *memory = qzi_lazy_memory(bytes);
  if (!memory) return -1;
  qzi_lazy_free(sampler->visit_memory, sampler->visit_bytes);
  sampler->visit_memory = memory;
  sampler->visit_bytes = bytes;
  sampler->visits = (struct qzi_visit *)(void *)memory;
  memory += processors * sizeof(struct qzi_visit);
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    visit->word = QZI_NO_WORD;
    visit->keys = (uint64_t *)(void *)memory;
    visit->prints = (uint64_t *)(void *)(memory + keys_bytes);
    memory += 2 * keys_bytes;
  }
  sampler->keys = (uint64_t *)(void *)memory;
  sampler->prints = (uint64_t *)(void *)(memory + keys_bytes);
  return 0;
}

int qzi_sampler_open(struct qzi_sampler *sampler, const struct qz_session_view *view, struct qzi_file *file,
                     uint64_t now_ns) {
  memset(sampler, 0, sizeof *sampler);
  sampler->view = view;
  sampler->file = file;
  sampler->tuples.file = file;
  sampler->last_ns = now_ns;
  sampler->objects_bytes = (size_t)view->object_table.capacity * sizeof *sampler->objects;
  sampler->objects = qzi_lazy_memory(sampler->objects_bytes);
  if (make_visits(sampler) || !sampler->objects || qzi_intern_open(&sampler->in, file, view) ||
      qzi_timeline_open(&sampler->timeline, file) || !(sampler->holders = qzi_holders_open(file))) {
    qzi_sampler_close(sampler);
    return -1;
  }
  if (view->publisher != QZ_PUBLISHER_PTHREAD && !(sampler->loops = qzi_processor_loops_open(sampler))) {
    qzi_sampler_close(sampler);
    return -1;
  }
  if (view->publisher == QZ_PUBLISHER_PTHREAD &&
      (!(sampler->kernel = qzi_kernel_open(sampler)) ||
       !(sampler->asked = qzi_lazy_memory(view->object_table.capacity * sizeof *sampler->asked)))) {
    qzi_sampler_close(sampler);
    return -1;
  }
  uint64_t processors = view->processors;
  if (qzi_file_room(file, QZ_SECTION_PROCESSORS, processors)) {
    qzi_sampler_close(sampler);
    return -1;
  }
  qzi_file_append(file, QZ_SECTION_PROCESSORS, processors);
  struct qz_profile *head = file->head;
  head->publisher = view->publisher;
  head->pid = view->pid;
  head->processors = view->processors;
  head->first_ns = now_ns;
  head->hook = view->hook;
  head->hook_inside_ps = view->hook_inside_ps;
  head->lock = view->lock;
  head->spawn_ps = view->spawn_ps;
  head->wait_ps = view->wait_ps;
  head->stack_limit = view->stack_limit;
  head->session_flags = view->flags;
  return 0;
}

void qzi_sampler_close(struct qzi_sampler *sampler) {
  qzi_lazy_free(sampler->visit_memory, sampler->visit_bytes);
  qzi_lazy_free(sampler->objects, sampler->objects_bytes);
  qzi_symbols_close(&sampler->in);
  if (sampler->in.file) qzi_intern_close(&sampler->in);
  if (sampler->timeline.file) qzi_timeline_close(&sampler->timeline);
  qzi_tuples_close(&sampler->tuples);
  qzi_table_free(&sampler->blame);
  qzi_table_free(&sampler->meanwhile);
  qzi_table_free(&sampler->calls);
  if (sampler->asked) qzi_lazy_free(sampler->asked, sampler->view->object_table.capacity * sizeof *sampler->asked);
  free(sampler->bases);
  free(sampler->sums);
  qzi_kernel_close(sampler->kernel);
  qzi_processor_loops_close(sampler->loops);
  qzi_holders_close(sampler->holders);
  memset(sampler, 0, sizeof *sampler);
}

void qzi_sampler_rebase(struct qzi_sampler *sampler, uint64_t now_ns) {
  if (now_ns > sampler->last_ns) sampler->last_ns = now_ns;
  if (sampler->kernel) qzi_kernel_skip(sampler->kernel);
}

int qzi_sampler_resize(struct qzi_sampler *sampler, uint32_t before) {
  struct qzi_file *file = sampler->file;
  struct qz_profile *head = file->head;
  uint32_t now = sampler->view->processors;
  for (uint32_t p = now; p < before; p++)
    if (file->processors[p].idle_ns != head->elapsed_ns) return -1;
  if (now > before && qzi_file_room(file, QZ_SECTION_PROCESSORS, now - before)) return -1;
  if (make_visits(sampler)) return -1;
  /* A reader of the growing file sees half a snapshot until the next one is whole. */
  __atomic_store_n(&head->rounds_begun, head->snapshots + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (uint32_t p = before; p < now; p++)
    file->processors[p] = (struct qz_processor_stats){.idle_ns = head->elapsed_ns};
  __atomic_store_n(&head->sections[QZ_SECTION_PROCESSORS].count, now, __ATOMIC_RELEASE);
  qzi_timeline_resize(&sampler->timeline, before, now);
  head->processors = now;
  return 0;
}

/* ---- phase 1: copying ---- */

/* Copies the stack of the thread that `visit` says runs there. Returns 1 if it is consistent. A stack whose packed
 * word is that of the last copy is that copy: every push and pop changes the word. */
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

void qzi_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  const struct qz_session_view *view = sampler->view;
  if (sampler->kernel) return;
  for (uint32_t p = first; p < end; p++) {
    const struct qz_processor *processor = qz_session_processor(view, p);
    struct qzi_visit *visit = &sampler->visits[p];
    if (p + 1 < end) __builtin_prefetch(qz_session_processor(view, p + 1));
    visit->invalid = 0;
    visit->torn = 0;
    visit->retries = 0;
    for (;;) {
      visit->now = QZ_LOAD_ACQUIRE(&processor->now);
      visit->state = (uint8_t)QZ_NOW_STATE(visit->now);
      int consistent = 1;
      if (visit->state > QZ_STATE_SPINNING) {
        visit->invalid = 1;
        visit->state = QZ_STATE_IDLE;
      }
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
  /* The counters of different processors are read one after the other: their sum may be off by what happened
   * meanwhile, and must not be believed when it is absurd. */
  int64_t most = sampler->view->thread_table.capacity;
  if (ready < 0) ready = 0;
  if (ready > most) {
    ready = 0;
    counts.invalid++;
  }
  counts.runnable = counts.running + (uint32_t)ready;
  return counts;
}

/* Node and entity of what one processor runs. */
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
  if (memo->serial != visit->serial) return; /* the thread has ended meanwhile */
  memo->round = sampler->round;
  memo->processor = processor;
  memo->word = visit->word;
  memo->node = visit->node;
}

/* A thread that was found to wait in a loop of its own spins: that stands on its path, too. */
static void look_for_loop(struct qzi_sampler *sampler, struct qzi_visit *visit, uint32_t p) {
  visit->loop = qzi_processor_loop(sampler->loops, p);
  if (!visit->loop) return;
  visit->state = QZ_STATE_SPINNING;
  visit->node = qzi_intern_child(&sampler->in, visit->node, QZ_KEY(QZ_KIND_FUTEX, visit->loop));
  visit->node_print = 0; /* it is not that of the stack */
}

static int waits_at_top(const struct qzi_visit *visit) {
  if (visit->loop) return 1;
  if (!visit->object || !visit->held) return 0;
  uint64_t top = visit->keys[visit->held - 1];
  return (top & QZ_KEY_OBJECT) && QZ_KEY_INDEX(top) == visit->object;
}

/* Finds the tuple of what one processor does. 0, or -1: no room. */
static int find_tuple(struct qzi_sampler *sampler, struct qzi_visit *visit, const struct qzi_counts *counts) {
  struct qzi_tuple_key key = {.stack = visit->node,
                              .thread = visit->entity,
                              .state = visit->state,
                              .waiting = (uint8_t)waits_at_top(visit),
                              .torn = visit->torn,
                              .busy = (uint16_t)(counts->useful + counts->overhead),
                              .spinning = (uint16_t)counts->spinning,
                              .runnable = counts->runnable};
  if (visit->tuple && qzi_tuple_same(&key, &visit->last_key)) return 0;
  visit->tuple = qzi_tuple_find(&sampler->tuples, &key);
  visit->last_key = key;
  return visit->tuple ? 0 : -1;
}

void qzi_thread_seen(struct qzi_sampler *sampler, uint32_t index, uint64_t ns) {
  uint32_t stats_plus_1 = sampler->in.memos[index].stats;
  if (!stats_plus_1) return;
  struct qz_thread_stats *stats = &sampler->file->threads[stats_plus_1 - 1];
  uint64_t at = sampler->file->head->elapsed_ns + ns;
  if (stats->first_ns == UINT64_MAX) stats->first_ns = at;
  stats->last_ns = at;
}

int qzi_snapshot_begin(struct qzi_sampler *sampler, uint64_t now_ns, struct qzi_counts *counts, uint64_t *ns) {
  struct qz_profile *head = sampler->file->head;
  counts->balance =
    qzi_balance_find(&sampler->tuples, counts->useful + counts->overhead, counts->spinning, counts->runnable);
  if (!counts->balance || qzi_timeline_prepare(&sampler->timeline, head->elapsed_ns) || sampler->file->full) return -1;
  *ns = now_ns - sampler->last_ns;
  __atomic_store_n(&head->rounds_begun, head->snapshots + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  return 0;
}

void qzi_snapshot_end(struct qzi_sampler *sampler, uint64_t now_ns, const struct qzi_counts *counts, uint64_t ns) {
  struct qz_profile *head = sampler->file->head;
  struct qz_balance *all = &sampler->file->balance[counts->balance - 1];
  uint64_t whole_ns = counts->whole_ns ? counts->whole_ns : ns;
  all->count += !counts->more;
  all->ns += ns;
  all->overhead_ns += counts->overhead * ns;
  all->runnable_ns += counts->runnable * ns;
  qzi_timeline_add(&sampler->timeline, ns, sampler->view->processors, counts->useful, counts->overhead,
                   counts->spinning, counts->runnable, !counts->more);
  head->elapsed_ns += ns;
  if (!counts->more) head->weight_us2 += (whole_ns / 1000) * (whole_ns / 1000);
  head->torn_retries += counts->retries;
  head->torn_accepted += counts->torn;
  head->invalid += counts->invalid;
  if (!counts->more) __atomic_store_n(&head->snapshots, head->snapshots + 1, __ATOMIC_RELEASE);
  sampler->last_ns = now_ns;
  sampler->runnable = counts->runnable;
  sampler->busy = (uint16_t)(counts->useful + counts->overhead);
  sampler->spinning = (uint16_t)counts->spinning;
}

int qzi_snapshot_add(struct qzi_sampler *sampler, uint64_t now_ns) {
  if (sampler->kernel) return qzi_kernel_add(sampler, now_ns);
  uint32_t processors = sampler->view->processors;
  sampler->round++;
  qzi_processor_loops_begin(sampler->loops, now_ns);
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    visit->loop = 0;
    if (visit->state == QZ_STATE_IDLE) continue;
    resolve(sampler, visit, p);
    look_for_loop(sampler, visit, p);
  }
  struct qzi_counts counts = count_states(sampler);
  /* Everything that may find no room comes first; what is made for a snapshot that is then left out weighs nothing. */
  for (uint32_t p = 0; p < processors; p++) {
    struct qzi_visit *visit = &sampler->visits[p];
    if (visit->state == QZ_STATE_IDLE) continue;
    if (find_tuple(sampler, visit, &counts)) return -1;
  }
  uint64_t ns;
  if (qzi_snapshot_begin(sampler, now_ns, &counts, &ns)) return -1;
  for (uint32_t p = 0; p < processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    struct qz_processor_stats *its = &sampler->file->processors[p];
    *(visit->state == QZ_STATE_USEFUL     ? &its->useful_ns
      : visit->state == QZ_STATE_OVERHEAD ? &its->overhead_ns
      : visit->state == QZ_STATE_SPINNING ? &its->spinning_ns
                                          : &its->idle_ns) += ns;
    if (visit->state == QZ_STATE_IDLE) continue;
    qzi_tuple_add(&sampler->tuples, visit->tuple, counts.runnable, ns);
    if (visit->entity) qzi_thread_seen(sampler, visit->thread, ns);
    if (visit->loop) qzi_external_wait(&sampler->in, visit->loop);
    if (visit->state != QZ_STATE_SPINNING)
      qzi_timeline_top(&sampler->timeline, sampler->file->stacks[visit->node].entity, ns);
  }
  sampler->file->head->visits += processors;
  qzi_snapshot_end(sampler, now_ns, &counts, ns);
  qzi_externals_seen(sampler, ns);
  return 0;
}
