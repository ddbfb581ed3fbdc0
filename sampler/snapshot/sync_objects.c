/* Visits objects in turn: their queues, and their holders since the last visit; and reads their exact statistics. See
 * snapshot.h. */
#include "sync_objects.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/profile/external_objects.h"
#include "blame.h"
#include "thread_look.h"
#include "wait_overlap.h"
#include "sampler/profile/interned_stacks.h"

/* Class of a queue length (QZ_QUEUE_...). */
static unsigned queue_bucket(uint32_t length) {
  const unsigned first = (unsigned)__builtin_ctz(QZ_QUEUE_EXACT), part = (unsigned)__builtin_ctz(QZ_QUEUE_PARTS);
  if (length < QZ_QUEUE_EXACT) return length;
  unsigned log = 31 - (unsigned)__builtin_clz(length);
  unsigned bucket = QZ_QUEUE_EXACT + (log - first) * QZ_QUEUE_PARTS + (length >> (log - part) & (QZ_QUEUE_PARTS - 1));
  return bucket < QZ_QUEUE_BUCKETS ? bucket : QZ_QUEUE_BUCKETS - 1;
}

/* Statistics of an object, which are created if necessary; NULL: no room, or no such object. */
static struct qz_object_stats *stats_of(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_object_memo *memo = &sampler->objects[index];
  struct qzi_file *file = sampler->file;
  if (memo->stats) return &file->objects[memo->stats - 1];
  uint32_t entity = qzi_intern_object(&sampler->in, index);
  if (!entity) return NULL;
  uint32_t first = file->entities[entity].record;
  if (first != index && sampler->objects[first].stats) { /* it shares the entity of its place */
    memo->stats = sampler->objects[first].stats;
    return &file->objects[memo->stats - 1];
  }
  if (qzi_file_room(file, QZ_SECTION_OBJECTS, 1)) return NULL;
  uint64_t at = qzi_file_count(file, QZ_SECTION_OBJECTS);
  memset(&file->objects[at], 0, sizeof file->objects[at]);
  file->objects[at].entity = entity;
  qzi_file_append(file, QZ_SECTION_OBJECTS, 1);
  memo->stats = sampler->objects[first].stats = (uint32_t)at + 1;
  return &file->objects[at];
}

static int may_have_holder(uint32_t kind) {
  return qz_kind_is_lock(kind) || kind == QZ_KIND_ONCE || kind == QZ_KIND_FUTEX || kind == QZ_KIND_JOIN;
}

/* Records that an object outside the session, of which only the waiters are known, had that many in the snapshot just
 * added; *stats_plus_1: index + 1 of its statistics, 0: none yet. */
static void object_seen(struct qzi_sampler *sampler, uint32_t entity, uint32_t *stats_plus_1, uint32_t waiters,
                        uint64_t ns) {
  struct qzi_file *file = sampler->file;
  if (!*stats_plus_1) {
    if (qzi_file_room(file, QZ_SECTION_OBJECTS, 1)) return;
    uint64_t at = qzi_file_count(file, QZ_SECTION_OBJECTS);
    memset(&file->objects[at], 0, sizeof file->objects[at]);
    file->objects[at].entity = entity;
    file->objects[at].instances = 1;
    qzi_file_append(file, QZ_SECTION_OBJECTS, 1);
    *stats_plus_1 = (uint32_t)at + 1;
  }
  struct qz_object_stats *stats = &file->objects[*stats_plus_1 - 1];
  stats->observed_ns += ns;
  stats->queue_length_ns += waiters * ns;
  stats->queue_ns[queue_bucket(waiters)] += ns;
  stats->wait_ns += waiters * ns;
  if (!waiters) return;
  qzi_blame(sampler, entity, 0, 0, waiters * ns);
  qzi_wait_overlap(sampler, entity, waiters, ns);
}

static void visit_object(struct qzi_sampler *sampler, uint32_t index, uint64_t now_ns) {
  const struct qz_object *object = qz_session_object(sampler->view, index);
  struct qzi_object_memo *memo = &sampler->objects[index];
  uint32_t kind = QZ_LOAD_ACQUIRE(&object->kind);
  uint64_t since_ns = memo->visit_ns ? memo->visit_ns - 1 : qzi_growth_since(&sampler->objects_grown, index);
  uint64_t ns = now_ns - since_ns;
  memo->visit_ns = now_ns + 1;
  if (kind == QZ_KIND_NONE || kind >= QZ_KIND_COUNT || kind == QZ_KIND_FUTEX) return; /* futexes: by their waiters */
  uint32_t blocked = QZ_LOAD(&object->queue), most = sampler->view->thread_table.capacity;
  /* Places of joins, sleeps and spins always exist; other objects only while one is alive. */
  if (kind != QZ_KIND_JOIN && kind != QZ_KIND_SLEEP && kind != QZ_KIND_LOOP && !blocked &&
      QZ_LOAD(&object->address) == 0)
    return;
  if (blocked > most) {
    sampler->file->head->invalid++;
    return;
  }
  uint32_t waiters = blocked;
  if (memo->round == sampler->round)
    waiters = blocked - (memo->woken < blocked ? memo->woken : blocked) + memo->spinners;
  struct qz_object_stats *stats = stats_of(sampler, index);
  if (!stats) return;
  stats->observed_ns += ns;
  stats->queue_length_ns += waiters * ns;
  stats->queue_ns[queue_bucket(waiters)] += ns;
  if (!waiters) return;
  if (!qz_kind_is_lock(kind) || !sampler->threading->blame(sampler, object, index, stats->entity, waiters * ns)) {
    uint32_t owner = QZ_LOAD(&object->owner), thread = 0, stack = 0;
    if (owner && may_have_holder(kind)) stack = qzi_thread_path(sampler, owner - 1, &thread);
    qzi_blame(sampler, stats->entity, stack, thread, waiters * ns);
  }
  if (kind != QZ_KIND_SLEEP) qzi_wait_overlap(sampler, stats->entity, waiters, ns);
}

/* Processors that spin on an object are part of its queue. */
static void count_spinners(struct qzi_sampler *sampler, uint32_t high) {
  for (uint32_t p = 0; p < sampler->view->processors; p++) {
    const struct qzi_visit *visit = &sampler->visits[p];
    if (visit->state != QZ_STATE_SPINNING || !visit->object || visit->object >= high) continue;
    qzi_object_in_round(sampler, visit->object)->spinners++;
  }
}

uint32_t qzi_objects_visit(struct qzi_sampler *sampler, uint32_t most, int first) {
  uint32_t high = qz_session_object_high(sampler->view);
  uint64_t now_ns = sampler->file->head->elapsed_ns;
  qzi_growth_note(&sampler->objects_grown, high, now_ns);
  if (first) count_spinners(sampler, high);
  if (high <= 1) return most;
  if (most > high - 1) most = high - 1;
  for (uint32_t k = 0; k < most; k++) {
    if (sampler->object_cursor == 0 || sampler->object_cursor >= high) sampler->object_cursor = 1;
    visit_object(sampler, sampler->object_cursor++, now_ns);
  }
  return most;
}

/* ---- exact statistics ---- */

int qzi_objects_base(struct qzi_sampler *sampler) {
  uint32_t high = qz_session_object_high(sampler->view), used = 0;
  for (uint32_t k = 1; k < high; k++)
    if (QZ_LOAD(&qz_session_object(sampler->view, k)->acquisitions) ||
        QZ_LOAD(&qz_session_object(sampler->view, k)->failed) ||
        QZ_LOAD(&qz_session_object(sampler->view, k)->contended))
      used = k + 1;
  if (!used) return 0;
  free(sampler->bases);
  sampler->bases = aligned_alloc(_Alignof(struct qz_object), used * sizeof *sampler->bases);
  if (!sampler->bases) return -1;
  memset(&sampler->bases[0], 0, sizeof *sampler->bases);
  for (uint32_t k = 1; k < used; k++) sampler->bases[k] = *qz_session_object(sampler->view, k);
  sampler->bases_count = used;
  return 0;
}

static uint64_t since(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

/* Adds the counts of one record. Beyond QZI_MAX_OBJECTS several records share one element, which therefore is cleared
 * before the first of them is added. */
static void add_exact(struct qz_object_stats *stats, const struct qz_object *object, const struct qz_object *base,
                      uint64_t asked) {
  static const struct qz_object zero;
  if (!base) base = &zero;
  stats->instances += QZ_LOAD(&object->instances);
  stats->capacity = QZ_LOAD(&object->capacity);
  stats->acquisitions += since(QZ_LOAD(&object->acquisitions), base->acquisitions);
  stats->acquisitions += since(asked, since(QZ_LOAD(&object->failed), base->failed));
  stats->contended += since(QZ_LOAD(&object->contended), base->contended);
  stats->wait_ns += since(QZ_LOAD(&object->wait_ns), base->wait_ns);
  stats->spin_ns += since(QZ_LOAD(&object->spin_ns), base->spin_ns);
  stats->hold_ns += since(QZ_LOAD(&object->hold_ns), base->hold_ns);
  uint64_t wait_max = QZ_LOAD(&object->wait_max_ns), hold_max = QZ_LOAD(&object->hold_max_ns);
  if (wait_max > stats->wait_max_ns) stats->wait_max_ns = wait_max;
  if (hold_max > stats->hold_max_ns) stats->hold_max_ns = hold_max;
  for (unsigned k = 0; k < QZ_TIME_BUCKETS; k++) {
    stats->wait_hist[k] += (uint32_t)since(QZ_LOAD(&object->wait_hist[k]), base->wait_hist[k]);
    stats->hold_hist[k] += (uint32_t)since(QZ_LOAD(&object->hold_hist[k]), base->hold_hist[k]);
  }
}

/* ---- exact statistics of futexes that the pthread layer reports ---- */

static struct qz_object_stats *external_stats(struct qzi_sampler *sampler, struct qzi_external_object *its) {
  if (!its->stats) object_seen(sampler, its->entity, &its->stats, 0, 0);
  return its->stats ? &sampler->file->objects[its->stats - 1] : NULL;
}

/* Whether the record has counts of the recording. */
static int has_counts(const struct qzi_sampler *sampler, uint32_t index) {
  uint64_t before = index < sampler->bases_count ? sampler->bases[index].acquisitions : 0;
  return QZ_LOAD(&qz_session_object(sampler->view, index)->acquisitions) != before;
}

/* Its object; NULL: none. */
static struct qzi_external_object *futex_object(struct qzi_sampler *sampler, uint32_t index) {
  if (QZ_LOAD_ACQUIRE(&qz_session_object(sampler->view, index)->kind) != QZ_KIND_FUTEX) return NULL;
  if (!has_counts(sampler, index)) return NULL;
  uint32_t external = qzi_external_of_futex(&sampler->in, index);
  return external ? qzi_external_at(&sampler->in, external) : NULL;
}

static void mark_counted(struct qzi_sampler *sampler, uint32_t index) {
  const struct qzi_futex_record *futex = &sampler->in.futex_records[index];
  struct qzi_external_object *its = futex_object(sampler, index);
  if (!its) return;
  its->counted = 1;
  if (!futex->mixed) return;
  struct qzi_external_object *first = qzi_external_at(&sampler->in, futex->first);
  if (!its->uncounted) its->uncounted = QZI_UNCOUNTED;
  if (!first->uncounted) first->uncounted = QZI_UNCOUNTED;
}

/* Beside sampled times of others, sums of counted ones would be of neither. */
static void clear_mixed(struct qzi_sampler *sampler, struct qzi_external_object *its) {
  struct qz_object_stats *stats = its->counted ? external_stats(sampler, its) : NULL;
  if (!stats) return;
  stats->instances = stats->acquisitions = stats->contended = stats->wait_max_ns = 0;
  stats->wait_ns = its->uncounted ? its->sampled_ns : 0;
  memset(stats->wait_hist, 0, sizeof stats->wait_hist);
}

static void read_futexes(struct qzi_sampler *sampler, uint32_t high) {
  struct qzi_interner *in = &sampler->in;
  for (uint32_t k = 1; k <= in->externals_count; k++)
    if (qzi_external_at(in, k)->uncounted == QZI_UNCOUNTED) qzi_external_at(in, k)->uncounted = 0;
  for (uint32_t k = 1; k < high; k++) mark_counted(sampler, k);
  for (uint32_t k = 1; k <= in->externals_count; k++) clear_mixed(sampler, qzi_external_at(in, k));
  for (uint32_t k = 1; k < high; k++) {
    struct qzi_external_object *its = futex_object(sampler, k);
    struct qz_object_stats *stats = its ? external_stats(sampler, its) : NULL;
    if (!stats) continue;
    const struct qz_object *base = k < sampler->bases_count ? &sampler->bases[k] : NULL;
    if (its->uncounted)
      stats->instances += QZ_LOAD(&qz_session_object(sampler->view, k)->instances);
    else
      add_exact(stats, qz_session_object(sampler->view, k), base, 0);
  }
}

void qzi_objects_read(struct qzi_sampler *sampler) {
  uint32_t high = qz_session_object_high(sampler->view);
  read_futexes(sampler, high);
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k = 1; k < high; k++) {
      const struct qz_object *object = qz_session_object(sampler->view, k);
      uint32_t kind = QZ_LOAD_ACQUIRE(&object->kind);
      if (kind == QZ_KIND_NONE || kind >= QZ_KIND_COUNT || kind == QZ_KIND_FUTEX) continue;
      const struct qz_object *base = k < sampler->bases_count ? &sampler->bases[k] : NULL;
      uint64_t asked = sampler->asked && (qz_kind_is_lock(kind) || kind == QZ_KIND_SEMAPHORE) ? sampler->asked[k] : 0;
      if (!sampler->objects[k].stats && !asked && QZ_LOAD(&object->acquisitions) == (base ? base->acquisitions : 0))
        continue;
      struct qz_object_stats *stats = stats_of(sampler, k);
      if (!stats) continue;
      if (pass == 1) {
        add_exact(stats, object, base, asked);
        continue;
      }
      stats->instances = stats->acquisitions = stats->contended = 0;
      stats->wait_ns = stats->wait_max_ns = stats->spin_ns = stats->hold_ns = stats->hold_max_ns = 0;
      memset(stats->wait_hist, 0, sizeof stats->wait_hist);
      memset(stats->hold_hist, 0, sizeof stats->hold_hist);
    }
}

void qzi_externals_seen(struct qzi_sampler *sampler, uint64_t ns) {
  for (uint32_t k = 1; k <= sampler->in.externals_count; k++) {
    struct qzi_external_object *object = qzi_external_at(&sampler->in, k);
    object_seen(sampler, object->entity, &object->stats, object->waiters + object->resting, ns);
    object->sampled_ns += (object->waiters + object->resting) * ns;
    object->waiters = 0;
  }
}
