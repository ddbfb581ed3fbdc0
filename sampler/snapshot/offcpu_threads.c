/* Visits threads without a processor, in turn. See snapshot.h. */
#include "thread_look.h"
#include "wait_overlap.h"
#include "sampler/profile/interned_stacks.h"

/* Copies state and path of a thread. The node is that of the last look if the packed word is the same. */
void qzi_thread_look(struct qzi_sampler *sampler, uint32_t index, struct qzi_look *look) {
  const struct qz_thread *thread = qz_session_thread(sampler->view, index);
  struct qzi_interner *in = &sampler->in;
  struct qzi_thread_memo *memo = &in->memos[index];
  struct qz_profile *head = sampler->file->head;
  *look = (struct qzi_look){0};
  for (unsigned retries = 0;; retries++) {
    look->serial = QZ_LOAD_ACQUIRE(&thread->serial);
    look->state = QZ_LOAD_ACQUIRE(&thread->state);
    if (look->serial == 0) return;
    look->entity = qzi_intern_thread(in, index, look->serial);
    int consistent = 1;
    if (memo->serial != look->serial || QZ_LOAD_ACQUIRE(&thread->word) != memo->word || (memo->word & QZ_WORD_FLUX)) {
      struct qz_stack_copy copy;
      consistent = qz_session_copy_stack(sampler->view, thread, sampler->keys, 0, &copy);
      head->invalid += copy.invalid;
      uint32_t depth = qzi_intern_based(in, index, look->serial, sampler->keys, copy.depth);
      qzi_prints(in, sampler->keys, sampler->prints, 0, depth);
      memo->node = qzi_intern_stack(in, sampler->keys, sampler->prints, depth);
      memo->word = consistent ? copy.word : QZI_NO_WORD;
    }
    look->node = memo->node;
    if (consistent && QZ_LOAD(&thread->state) == look->state && QZ_LOAD(&thread->serial) == look->serial) break;
    if (retries == QZ_COPY_RETRIES) {
      look->torn = 1;
      head->torn_accepted++;
      break;
    }
    head->torn_retries++;
  }
}

int qzi_waits_at_top(const struct qzi_sampler *sampler, uint32_t node, uint32_t object) {
  if (!object || !node) return 0;
  uint64_t key = sampler->in.node_keys[node];
  return (key & QZ_KEY_OBJECT) && QZ_KEY_INDEX(key) == object;
}

void qzi_thread_overflows(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_thread_memo *memo = &sampler->in.memos[index];
  uint64_t overflows = QZ_LOAD(&qz_session_thread(sampler->view, index)->overflows);
  if (overflows > memo->overflows) sampler->file->head->stack_overflows += overflows - memo->overflows;
  memo->overflows = overflows;
}

void qzi_overflows_read(struct qzi_sampler *sampler) {
  uint32_t high = qz_session_thread_high(sampler->view), epoch = QZ_LOAD(&qz_session_head(sampler->view)->epoch);
  for (uint32_t k = 0; k < high; k++)
    if (QZ_LOAD(&qz_session_thread(sampler->view, k)->epoch) == epoch) qzi_thread_overflows(sampler, k);
}

static void visit_thread(struct qzi_sampler *sampler, uint32_t index, uint64_t now_ns) {
  struct qzi_thread_memo *memo = &sampler->in.memos[index];
  uint64_t since_ns = memo->visit_ns ? memo->visit_ns - 1 : qzi_growth_since(&sampler->threads_grown, index);
  uint64_t ns = now_ns - since_ns;
  memo->visit_ns = now_ns + 1;
  if (QZ_LOAD_ACQUIRE(&qz_session_thread(sampler->view, index)->serial) == 0) return;
  qzi_thread_overflows(sampler, index);
  struct qzi_look look;
  qzi_thread_look(sampler, index, &look);
  unsigned state = QZ_STATE_OF(look.state);
  if (!look.serial || !look.entity) return;
  if (state >= QZ_STATE_COUNT) {
    sampler->file->head->invalid++;
    return;
  }
  /* Threads that run, or are about to, are seen at their processors. A thread that ran when the processors were
   * visited, but does not any more, is counted in its new state, too; threads that have begun to run since then are
   * counted nowhere. On average both errors cancel out. */
  if (state < QZ_STATE_READY) return;
  struct qzi_tuple_key key = {.stack = look.node,
                              .thread = look.entity,
                              .state = (uint8_t)state,
                              .waiting = (uint8_t)qzi_waits_at_top(sampler, look.node, QZ_STATE_OBJECT(look.state)),
                              .torn = (uint8_t)look.torn,
                              .busy = sampler->busy,
                              .spinning = sampler->spinning,
                              .runnable = sampler->runnable};
  uint32_t tuple = qzi_tuple_find(&sampler->tuples, &key);
  if (!tuple) return;
  qzi_tuple_add(&sampler->tuples, tuple, sampler->runnable, ns);
  qzi_slice_add(&sampler->slices, tuple, now_ns, ns);
  if (state == QZ_STATE_IO) qzi_wait_overlap(sampler, 0, 1, ns);
  if (memo->stats) {
    struct qz_thread_stats *stats = &sampler->file->threads[memo->stats - 1];
    if (stats->first_ns == UINT64_MAX) stats->first_ns = now_ns;
    stats->last_ns = now_ns;
  }
}

uint32_t qzi_threads_visit(struct qzi_sampler *sampler, uint32_t most) {
  uint32_t high = qz_session_thread_high(sampler->view);
  uint64_t now_ns = sampler->file->head->elapsed_ns;
  qzi_growth_note(&sampler->threads_grown, high, now_ns);
  if (sampler->threading->whole) return most; /* each snapshot has already visited all of them */
  if (most > high) most = high;
  for (uint32_t k = 0; k < most; k++) {
    if (sampler->thread_cursor >= high) sampler->thread_cursor = 0;
    visit_thread(sampler, sampler->thread_cursor++, now_ns);
  }
  return most;
}

uint32_t qzi_thread_path(struct qzi_sampler *sampler, uint32_t index, uint32_t *entity) {
  *entity = 0;
  if (index >= qz_session_thread_high(sampler->view)) return 0;
  const struct qzi_thread_memo *memo = &sampler->in.memos[index];
  if (memo->round == sampler->round && sampler->round) {
    const struct qzi_visit *visit = &sampler->visits[memo->processor];
    *entity = visit->entity;
    return visit->node;
  }
  struct qzi_look look;
  qzi_thread_look(sampler, index, &look);
  *entity = look.entity;
  uint32_t node = look.entity ? sampler->threading->node(sampler, index) : 0;
  return node ? node : look.entity ? look.node : 0;
}
