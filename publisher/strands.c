/* Strands: the rare cases. See strands.h. */
#include "strands.h"

__attribute__((noinline, cold)) void qzi_span_of_epoch(struct qzi_span *span, uint64_t start, uint64_t site) {
  *span = (struct qzi_span){.epoch = qzi_pub_epoch, .away = ticks_now(), .before = true};
  if (qzi_what_if_any) span->inside = qzi_what_if_created(start, site);
}

/* Merges pairs of levels until `length` is in range. */
static __attribute__((noinline, cold)) uint64_t widen(struct qz_span *record, uint64_t length) {
  uint64_t shift = record->levels_shift;
  qzi_pub_store(&record->levels_shift, shift | QZ_SPAN_WIDENING);
  qzi_pub_fence();
  for (; length >> shift >= QZ_SPAN_LEVELS; shift++)
    for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++)
      qzi_pub_store(&record->levels[k], 2 * k < QZ_SPAN_LEVELS ? record->levels[2 * k] + record->levels[2 * k + 1] : 0);
  __atomic_store_n(&record->levels_shift, shift, __ATOMIC_RELEASE);
  return shift;
}

void qzi_span_add_levels(struct qzi_span_actor *actor, struct qz_span *record, uint64_t from, uint64_t to) {
  uint64_t shift = record->levels_shift;
  if (to >> shift >= QZ_SPAN_LEVELS) shift = widen(record, to);
  uint64_t first = from >> shift, last = to >> shift;
  for (uint64_t k = first; k <= last; k++) {
    uint64_t low = k == first ? from : k << shift, high = k == last ? to : (k + 1) << shift;
    qzi_pub_store(&record->levels[k], record->levels[k] + (high - low));
  }
  actor->level = &record->levels[last];
  actor->level_from = last << shift;
  actor->level_to = (last + 1) << shift;
}

static void renew(struct kind *kind) {
  uint64_t all = 0, above = 0;
  for (unsigned k = 0; k < 63; k++) all += kind->work[k];
  unsigned k = 62;
  while (k > 0 && above + kind->work[k] <= all / 16) above += kind->work[k--];
  kind->usual = k == 62 ? UINT64_MAX : (UINT64_C(2) << k) - 1;
}

/* Thus no more than 1/16 of a kind's work is ever cut off, even if the distribution changes later. */
__attribute__((noinline, cold)) uint64_t qzi_span_unusual(struct qzi_span_actor *actor, unsigned number,
                                                          uint64_t ticks) {
  struct kind *kind = &actor->kinds[number];
  if (actor->kinds_seen[number] < KIND_FIRST) {
    if (++actor->kinds_seen[number] < KIND_FIRST) return ticks;
    actor->kinds_known |= UINT64_C(1) << number;
  }
  renew(kind);
  return ticks < kind->usual ? ticks : kind->usual;
}

void qzi_span_note_waits(struct qzi_span_actor *actor) {
  qzi_pub_store(&actor->record->waited, actor->record->waited + (qzi_span_cpu.lost - qzi_span_cpu.noted));
  qzi_span_cpu.noted = qzi_span_cpu.lost;
}

/* The queries to which the thread, or task, belongs from its start on. */
static uint8_t created(const struct qzi_span *span) {
#ifndef QZI_PUB_ONE_THREAD
  if (qzi_span_is_task(span)) {
    const struct qz_thread *record = qzi_span_task_record(span);
    return qzi_what_if_created(record->start, record->create_site);
  }
#endif
  const struct qzi_pub_thread *thread = (const void *)((char *)(uintptr_t)span - qzi_span_offset);
  return qzi_what_if_created(thread->start, thread->create_site);
}

/* A snapshot has been taken during this strand. */
__attribute__((noinline, cold)) void qzi_span_crumb(struct qzi_span_actor *actor, struct qzi_span *span,
                                                    uint64_t time) {
  uint64_t id = qzi_path_write(actor->crumbs, actor->index, span->now.crumb, actor->seen, span->now.length);
  if (id) span->now.crumb = id;
  actor->seen = time;
  qzi_pub_store(&actor->crumbs->word, span->now.crumb);
  qzi_span_note_waits(actor);
  for (uint64_t known = actor->kinds_known; known; known &= known - 1) renew(&actor->kinds[__builtin_ctzll(known)]);
  if (qzi_what_if_choosing)
    qzi_what_if_choose(span);
  else if (qzi_what_if_any) /* it may have started before the choice */
    span->inside |= created(span);
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++)
    if (span->now.what_if[k] > actor->record->what_if[k])
      qzi_pub_store(&actor->record->what_if[k], span->now.what_if[k]);
}
