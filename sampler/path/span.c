/* See span.h. */
#include "span.h"

#include <stdlib.h>
#include <stdbool.h>
#include <string.h>
#include "abi/session_read.h"
#include "sampler/util/array.h"

/* ---- what is on the span ---- */

static void add_row(struct qzi_span_sums *span, uint32_t stack, uint32_t thread, uint64_t ticks) {
  if (!ticks) return;
  uint32_t hash = qzi_hash(stack, thread);
  QZI_TABLE_EACH(&span->index, hash, at) {
    struct qz_on_span *row = &span->rows[at - 1];
    if (row->stack != stack || row->thread != thread) continue;
    row->count++;
    row->ns += ticks;
    return;
  }
  if (qzi_grow((void **)&span->rows, &span->rows_room, span->rows_count + 1, sizeof *span->rows) ||
      qzi_table_add(&span->index, hash, span->rows_count + 1)) {
    span->chains.lost++;
    if (span->rows_count) span->rows[0].ns += ticks;
    return;
  }
  span->rows[span->rows_count++] = (struct qz_on_span){.stack = stack, .thread = thread, .count = 1, .ns = ticks};
}

static int is_strand(const struct qzi_piece *piece) {
  if (piece->inferred) return 0;
  return piece->state == QZ_STATE_USEFUL || piece->state == QZ_STATE_OVERHEAD || piece->state == QZ_STATE_IO;
}

/* The part of a piece after `from`; *at: when the piece begins, and then when it ends, like `from` since the beginning
 * of its link. */
static uint64_t strand_after(const struct qzi_piece *piece, uint64_t from, uint64_t *at) {
  uint64_t begin = *at > from ? *at : from;
  *at += piece->time;
  return is_strand(piece) && *at > begin ? *at - begin : 0;
}
static uint64_t strands_after(const struct qzi_link *link, uint64_t from) {
  uint64_t time = 0, at = 0;
  for (uint32_t k = 0; k < link->pieces_count; k++) time += strand_after(&link->pieces[k], from, &at);
  return time;
}
/* Nothing shows what the actor executed in the strand: it is assumed to be what it did last. */
static void add_unseen(struct qzi_span_sums *span, const struct qzi_link *link, uint64_t ticks) {
  for (uint32_t k = link->pieces_count; k-- > 0;) {
    const struct qzi_piece *piece = &link->pieces[k];
    if (piece->state != QZ_STATE_READY || piece->inferred || !piece->stack) continue;
    add_row(span, piece->stack, piece->thread, ticks);
    return;
  }
  add_row(span, 0, 0, ticks);
}

/* Divides the growth of the span since the previous link in proportion to what its actor was observed to do since
 * then; but what it was seen doing at first counts only if nothing else shows what it did. */
static void settle(void *argument, const struct qzi_link *link) {
  struct qzi_span_sums *span = argument;
  if (link->key < span->length) span->chains.lost++; /* a chain never becomes shorter: not a crumb of this one */
  if (link->key <= span->length) return;
  uint64_t ticks = link->key - span->length, given = 0, so_far = 0, at = 0;
  uint64_t from = strands_after(link, link->unsure) ? link->unsure : 0, time = strands_after(link, from);
  span->length = link->key;
  for (uint32_t k = 0; time && k < link->pieces_count; k++) {
    const struct qzi_piece *piece = &link->pieces[k];
    uint64_t part = strand_after(piece, from, &at);
    if (!part) continue;
    so_far += part;
    uint64_t until = (uint64_t)((unsigned __int128)ticks * so_far / time);
    add_row(span, piece->stack, piece->thread, until - given);
    given = until;
  }
  if (!time) add_unseen(span, link, ticks);
}

int qzi_span_sums_open(struct qzi_span_sums *span, const struct qz_session_view *view, struct qzi_interner *in,
                       uint64_t base, const struct qz_what_if *what_if) {
  *span = (struct qzi_span_sums){.in = in, .what_if = what_if};
  if (!view->span_table.capacity) return 0;
  if (qzi_chains_open(&span->chains, view, qz_session_span_path, base, settle, span)) return -1;
  span->on = 1;
  return 0;
}

void qzi_span_sums_close(struct qzi_span_sums *span) {
  qzi_chains_close(&span->chains);
  free(span->rows);
  qzi_table_free(&span->index);
  memset(span, 0, sizeof *span);
}

/* ---- the end ---- */

static uint64_t ns_of(uint64_t ticks, uint64_t scale) { return (uint64_t)((unsigned __int128)ticks * scale >> 32); }

/* If the program did not end normally: the end of the longest known chain. */
static struct qz_crumb longest(const struct qzi_chains *chains) {
  struct qz_crumb last = {0};
  for (uint32_t k = 0; k < chains->count; k++)
    if (chains->links[k].key > last.key)
      last = (struct qz_crumb){.prev = chains->links[k].id, .key = chains->links[k].key};
  return last;
}

static void write_rows(struct qzi_span_sums *span, uint64_t scale) {
  struct qzi_file *file = span->in->file;
  uint64_t most = file->head->sections[QZ_SECTION_ON_SPAN].capacity, left = file->head->span_ns;
  while (span->rows_count > most && span->rows_count > 1) span->rows[0].ns += span->rows[--span->rows_count].ns;
  if (!span->rows_count || qzi_file_room(file, QZ_SECTION_ON_SPAN, span->rows_count)) return;
  for (uint32_t k = span->rows_count; k-- > 0;) { /* the first row gets the remainder of rounding */
    struct qz_on_span row = span->rows[k];
    row.ns = k ? ns_of(row.ns, scale) : left;
    if (row.ns > left) row.ns = left;
    left -= row.ns;
    file->on_span[k] = row;
  }
  qzi_file_append(file, QZ_SECTION_ON_SPAN, span->rows_count);
}

static void add_site(struct qz_span_site *sites, uint32_t *count, const struct qz_site *its, struct qzi_interner *in,
                     uint64_t scale) {
  uint64_t address = QZ_LOAD_ACQUIRE(&its->site), start = QZ_LOAD(&its->start);
  if (!address) return;
  uint32_t k = 0;
  if (address == 1) address = 0;
  while (k < *count && sites[k].site != address) k++;
  if (k == *count) {
    if (k == QZ_SPAN_SITES) return;
    sites[(*count)++] = (struct qz_span_site){.site = address, .least_slack_ns = UINT64_MAX};
  }
  if (address && start && !sites[k].start) sites[k].start = qzi_intern_procedure(in, start);
  uint64_t top_count = QZ_LOAD(&its->top_count), top_work_ns = ns_of(QZ_LOAD(&its->top_work), scale);
  uint64_t top_span_ns = ns_of(QZ_LOAD(&its->top_span), scale);
  sites[k].count += top_count + QZ_LOAD(&its->inner_count);
  sites[k].work_ns += top_work_ns + ns_of(QZ_LOAD(&its->inner_work), scale);
  sites[k].span_ns += top_span_ns + ns_of(QZ_LOAD(&its->inner_span), scale);
  sites[k].top_count += top_count;
  sites[k].top_work_ns += top_work_ns;
  sites[k].top_span_ns += top_span_ns;
  sites[k].merges += QZ_LOAD(&its->merges);
  sites[k].merged += QZ_LOAD(&its->merged);
  sites[k].lost += QZ_LOAD(&its->lost);
  sites[k].slack_ns += ns_of(QZ_LOAD(&its->slack), scale);
  uint64_t least = QZ_LOAD(&its->least_slack_plus_1), least_ns = least ? ns_of(least - 1, scale) : UINT64_MAX;
  if (least_ns < sites[k].least_slack_ns) sites[k].least_slack_ns = least_ns;
}

static void write_sites(struct qzi_span_sums *span, uint32_t actors, uint64_t scale) {
  struct qzi_file *file = span->in->file;
  struct qz_span_site sites[QZ_SPAN_SITES];
  uint32_t count = 0;
  for (uint32_t a = 0; a < actors; a++) {
    const struct qz_span *actor = qz_session_span(span->chains.view, a);
    for (unsigned k = 0; actor && k < QZ_SPAN_SITES; k++) add_site(sites, &count, &actor->sites[k], span->in, scale);
  }
  for (uint32_t k = 0; k < count; k++)
    if (sites[k].least_slack_ns == UINT64_MAX) sites[k].least_slack_ns = 0;
  if (!count || qzi_file_room(file, QZ_SECTION_SITES, count)) return;
  memcpy(file->sites, sites, count * sizeof *sites);
  qzi_file_append(file, QZ_SECTION_SITES, count);
}

/* The question that the sampler asked, or that the program has chosen itself. */
static struct qz_what_if_answer question_of(struct qzi_span_sums *span, const struct qz_span_end *end, unsigned k) {
  const struct qz_what_if *question = &span->what_if[k];
  if (question->kind == QZ_WHAT_IF_NONE) {
    uint64_t site = QZ_LOAD(&end->what_if_place[k]), since = QZ_LOAD(&end->what_if_since);
    uint64_t base = span->chains.base;
    return (struct qz_what_if_answer){.kind = site ? QZ_WHAT_IF_PLACE : QZ_WHAT_IF_NONE,
                                      .site = site,
                                      .since_ns = since > base ? (since - base) << QZ_PATH_TIME_SHIFT : 0};
  }
  bool found = question->entries || (question->kind == QZ_WHAT_IF_LOCK && question->creators);
  return (struct qz_what_if_answer){
    .kind = question->kind,
    .name = qzi_intern_string(span->in, question->name),
    .entity = question->entries ? qzi_intern_procedure(span->in, question->entry[0]) : 0,
    .flags = found ? QZ_ANSWER_FOUND : 0,
    .factor = question->factor,
  };
}

static void write_what_ifs(struct qzi_span_sums *span, uint32_t actors, uint64_t scale) {
  struct qzi_file *file = span->in->file;
  const struct qz_span_end *end = &qz_session_head(span->chains.view)->span_end;
  uint64_t seen = QZ_LOAD(&end->what_if_seen), missed = QZ_LOAD(&end->what_if_missed);
  uint32_t count = 0;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    struct qz_what_if_answer answer = question_of(span, end, k);
    if (answer.kind == QZ_WHAT_IF_NONE || qzi_file_room(file, QZ_SECTION_WHAT_IF, count + 1)) continue;
    uint64_t length = 0, work = 0;
    for (uint32_t a = 0; a < actors; a++) {
      const struct qz_span *actor = qz_session_span(span->chains.view, a);
      if (!actor) continue;
      work += QZ_LOAD(&actor->work) - QZ_LOAD(&actor->what_if_less[k]);
      if (QZ_LOAD(&actor->what_if[k]) > length) length = QZ_LOAD(&actor->what_if[k]);
    }
    if (QZ_LOAD_ACQUIRE(&end->length)) length = QZ_LOAD(&end->what_if[k]);
    answer.flags |= (seen >> k & 1 ? QZ_ANSWER_SEEN : 0) | (missed >> k & 1 ? QZ_ANSWER_MISSED : 0);
    answer.span_ns = ns_of(length, scale);
    answer.work_ns = ns_of(work, scale);
    file->what_if[count++] = answer;
  }
  if (count) qzi_file_append(file, QZ_SECTION_WHAT_IF, count);
}

/* Copies the actor's levels while they are not being rescaled; returns their shift. Returns 0 if every attempt was
 * disturbed, or if it has none. */
static uint64_t copy_levels(const struct qz_span *actor, uint64_t *levels) {
  for (unsigned tries = 0; tries < 1000; tries++) {
    uint64_t shift = QZ_LOAD_ACQUIRE(&actor->levels_shift);
    if (shift & QZ_SPAN_WIDENING) continue;
    for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++) levels[k] = QZ_LOAD(&actor->levels[k]);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (QZ_LOAD(&actor->levels_shift) == shift) return shift < 56 ? shift : 0;
  }
  return 0;
}

static void write_levels(struct qzi_span_sums *span, uint32_t actors, uint64_t scale) {
  struct qzi_file *file = span->in->file;
  uint64_t sums[QZ_SPAN_LEVELS] = {0}, widest = 0, levels[QZ_SPAN_LEVELS];
  for (uint32_t a = 0; a < actors; a++) {
    const struct qz_span *actor = qz_session_span(span->chains.view, a);
    uint64_t shift = actor ? copy_levels(actor, levels) : 0;
    if (!shift) continue;
    for (; widest && widest < shift; widest++)
      for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++)
        sums[k] = 2 * k < QZ_SPAN_LEVELS ? sums[2 * k] + sums[2 * k + 1] : 0;
    if (!widest) widest = shift;
    for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++) sums[k >> (widest - shift)] += levels[k];
  }
  if (!widest || qzi_file_room(file, QZ_SECTION_LEVELS, QZ_SPAN_LEVELS)) return;
  uint64_t left = file->head->work_ns, last = 0;
  for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++)
    if (sums[k]) last = k;
  for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++) { /* the last level gets the remainder of rounding */
    uint64_t ns = k == last ? left : ns_of(sums[k], scale);
    if (ns > left || k > last) ns = k > last ? 0 : left;
    file->levels[k] = (struct qz_level){.ns = ns};
    left -= ns;
  }
  file->head->level_ns = ns_of(UINT64_C(1) << widest, scale);
  qzi_file_append(file, QZ_SECTION_LEVELS, QZ_SPAN_LEVELS);
}

void qzi_span_sums_finish(struct qzi_span_sums *span, uint32_t actors, uint64_t now) {
  if (actors > span->chains.actors) actors = span->chains.actors;
  const struct qz_session *session = qz_session_head(span->chains.view);
  struct qz_profile *head = span->in->file->head;
  uint32_t flags = QZ_LOAD(&session->flags);
  head->session_flags = flags;
  if (!(flags & QZ_SESSION_SPAN)) return;
  uint64_t scale = QZ_LOAD(&session->span_end.tick_scale), work = 0, aside = 0, waited = 0, asleep = 0;
  for (uint32_t a = 0; a < actors; a++) {
    const struct qz_span *actor = qz_session_span(span->chains.view, a);
    if (!actor) continue;
    work += QZ_LOAD(&actor->work);
    aside += QZ_LOAD(&actor->aside);
    waited += QZ_LOAD(&actor->waited);
    asleep += QZ_LOAD(&actor->asleep);
    head->strands += QZ_LOAD(&actor->strands);
    const struct qz_path *path = qz_session_span_path(span->chains.view, a);
    if (path) head->span_lost += QZ_LOAD(&path->lost);
  }
  qzi_chains_read(&span->chains, actors, now, NULL);
  struct qz_crumb last = {.key = QZ_LOAD_ACQUIRE(&session->span_end.length), .prev = QZ_LOAD(&session->span_end.crumb)};
  if (last.key) {
    head->burdened_span_ns = ns_of(QZ_LOAD(&session->span_end.burdened), scale);
    head->typical_span_ns = ns_of(QZ_LOAD(&session->span_end.typical), scale);
  } else {
    last = longest(&span->chains);
  }
  last.since = last.prev;
  uint32_t actor = QZ_CHAIN_ACTOR(QZ_LOAD(&session->path_end));
  qzi_chains_end_with(&span->chains, &last, actor < span->chains.actors ? actor : 0);
  head->work_ns = ns_of(work, scale);
  head->span_ns = ns_of(span->length, scale);
  if (head->span_ns > head->work_ns && head->work_ns == 0) head->span_ns = 0;
  head->aside_ns = ns_of(aside, scale);
  head->waited_ns = ns_of(waited, scale);
  const struct qzi_file *file = span->in->file;
  if (qzi_file_count(file, QZ_SECTION_CPU_LIMITS)) file->cpu_limits->asleep_ns = ns_of(asleep, scale);
  head->burden_ps = ns_of(QZ_LOAD(&session->span_end.burden), scale) * 1000;
  head->span_lost += span->chains.lost;
  write_rows(span, scale);
  write_sites(span, actors, scale);
  write_levels(span, actors, scale);
  write_what_ifs(span, actors, scale);
}
