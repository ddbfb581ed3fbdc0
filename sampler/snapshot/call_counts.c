/* Reads exact call counts and totals from the session. See snapshot.h. */
#include "sync_objects.h"
#include "thread_look.h"
#include "sampler/util/array.h"
#include "sampler/profile/interned_stacks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls from one call site to one callee, summed over all processors. */
struct qzi_call_sum {
  uint64_t site, key;
  uint64_t count; /* in the current reading */
  uint64_t base;  /* calls before recording began */
  uint32_t edge;  /* index + 1 into QZ_SECTION_CALLS, 0: none yet */
};

static void add(struct qzi_sampler *sampler, uint64_t site, uint64_t key, uint64_t count) {
  uint32_t hash = qzi_hash(site, key);
  QZI_TABLE_EACH(&sampler->calls, hash, at) {
    struct qzi_call_sum *sum = &sampler->sums[at - 1];
    if (sum->site != site || sum->key != key) continue;
    sum->count += count;
    return;
  }
  if (qzi_grow((void **)&sampler->sums, &sampler->sums_room, sampler->sums_count + 1, sizeof *sampler->sums)) {
    sampler->file->head->invalid++;
    return;
  }
  if (qzi_table_add(&sampler->calls, hash, sampler->sums_count + 1)) {
    sampler->file->head->invalid++;
    return;
  }
  sampler->sums[sampler->sums_count++] = (struct qzi_call_sum){.site = site, .key = key, .count = count};
}

/* Finds the first byte at or after `offset` that has data, and the end of that data. Pages that were never touched
 * contain no calls, and reading them would make the kernel allocate them. */
static int next_data(const struct qz_session_view *view, uint64_t offset, uint64_t *begin, uint64_t *end) {
  if (view->fd < 0) {
    *begin = offset;
    *end = view->bytes;
    return 0;
  }
  off_t data = lseek(view->fd, (off_t)offset, SEEK_DATA);
  if (data < 0) return -1;
  off_t hole = lseek(view->fd, data, SEEK_HOLE);
  *begin = (uint64_t)data;
  *end = hole < 0 ? view->bytes : (uint64_t)hole;
  return 0;
}

static void sum_up(struct qzi_sampler *sampler) {
  const struct qz_session_view *view = sampler->view;
  for (uint32_t k = 0; k < sampler->sums_count; k++) sampler->sums[k].count = 0;
  uint64_t stride = view->call_table.stride, from = view->call_table.offset;
  uint64_t slots = view->call_table.capacity, slot = 0, begin, end;
  while (slot < slots && !next_data(view, from + slot * stride, &begin, &end)) {
    uint64_t first = begin > from ? (begin - from) / stride : 0;
    if (first > slot) slot = first;
    if (end <= from + slot * stride) break;
    for (; slot < slots && from + slot * stride < end; slot++) {
      const struct qz_call *call = (const struct qz_call *)(const void *)(view->base + from + slot * stride);
      uint64_t site = QZ_LOAD_ACQUIRE(&call->site), key = QZ_LOAD(&call->key), count = QZ_LOAD(&call->count);
      if (!(key & QZ_KEY_OBJECT) && site >= view->start_low && site < view->start_high)
        continue; /* counted as a spawn */
      if (site && count) add(sampler, site, key, count);
    }
  }
}

/* Entity of a callee; 0: the key is invalid, or there is no room. */
static uint32_t callee_of(struct qzi_sampler *sampler, uint64_t key) {
  if (key & QZ_KEY_OBJECT) return qzi_intern_object(&sampler->in, QZ_KEY_INDEX(key));
  return qzi_intern_procedure(&sampler->in, key);
}

/* Sums the number of calls for each object. */
static void sum_asked(struct qzi_sampler *sampler) {
  uint32_t high = qz_session_object_high(sampler->view);
  memset(sampler->asked, 0, high * sizeof *sampler->asked);
  for (uint32_t k = 0; k < sampler->sums_count; k++) {
    const struct qzi_call_sum *sum = &sampler->sums[k];
    if (sum->key & QZ_KEY_OBJECT && QZ_KEY_INDEX(sum->key) < high && sum->count > sum->base)
      sampler->asked[QZ_KEY_INDEX(sum->key)] += sum->count - sum->base;
  }
}

void qzi_calls_read(struct qzi_sampler *sampler) {
  struct qzi_file *file = sampler->file;
  sum_up(sampler);
  if (sampler->asked) sum_asked(sampler);
  for (uint32_t k = 0; k < sampler->sums_count; k++) {
    struct qzi_call_sum *sum = &sampler->sums[k];
    if (sum->count <= sum->base) continue;
    if (!sum->edge) {
      uint32_t callee = callee_of(sampler, sum->key);
      if (!callee || qzi_file_room(file, QZ_SECTION_CALLS, 1)) {
        file->head->invalid += !callee;
        continue;
      }
      uint64_t at = qzi_file_count(file, QZ_SECTION_CALLS);
      file->calls[at] = (struct qz_call_edge){.site = sum->site, .callee = callee, .count = sum->count - sum->base};
      qzi_file_append(file, QZ_SECTION_CALLS, 1);
      sum->edge = (uint32_t)at + 1;
      if (sum->key & QZ_KEY_OBJECT) sampler->threading->taken(sampler, sum->key, sum->site);
    }
    file->calls[sum->edge - 1].count = sum->count - sum->base;
  }
}

static void sum_processors(const struct qz_session_view *view, struct qzi_totals *totals) {
  *totals = (struct qzi_totals){0};
  for (uint32_t p = 0; p < view->processors; p++) {
    const struct qz_processor *processor = qz_session_processor(view, p);
    totals->spawns += QZ_LOAD(&processor->spawns);
    totals->switches += QZ_LOAD(&processor->switches);
    totals->steals += QZ_LOAD(&processor->steals);
    totals->parks += QZ_LOAD(&processor->parks);
    totals->calls_lost += QZ_LOAD(&processor->calls_lost);
  }
  if (qz_session_head(view)->publisher != QZ_PUBLISHER_PTHREAD) return;
  const struct qz_path *path;
  for (uint32_t k = 0, high = qz_session_thread_high(view); k < high && (path = qz_session_path(view, k)); k++) {
    totals->rounds += QZ_LOAD(&path->rounds);
    totals->rounds_ns += QZ_LOAD(&path->rounds_ns);
    totals->tasks_ns += QZ_LOAD(&path->tasks_ns);
  }
}

void qzi_totals_read(struct qzi_sampler *sampler) {
  const struct qz_session *session = qz_session_head(sampler->view);
  struct qz_profile *head = sampler->file->head;
  const struct qzi_totals *base = &sampler->totals_base;
  struct qzi_totals now;
  sum_processors(sampler->view, &now);
  head->spawns = now.spawns - base->spawns;
  head->switches = now.switches - base->switches;
  head->steals = now.steals - base->steals;
  head->parks = now.parks - base->parks;
  head->calls_lost = now.calls_lost - base->calls_lost;
  head->threads_dropped = QZ_LOAD(&session->threads_dropped);
  head->objects_merged = QZ_LOAD(&session->objects_merged);
  head->strings_dropped = QZ_LOAD(&session->strings_dropped);
  head->hook.least_ps = QZ_LOAD(&session->hook.least_ps); /* not known before the program's modules have been
                                                             initialized */
  head->hook.most_ps = QZ_LOAD(&session->hook.most_ps);
  head->hook_inside_ps = QZ_LOAD(&session->hook_inside_ps);
  if (!qzi_file_count(sampler->file, QZ_SECTION_CPU_LIMITS)) return;
  sampler->file->cpu_limits->rounds = now.rounds - base->rounds;
  sampler->file->cpu_limits->rounds_ns = now.rounds_ns - base->rounds_ns;
  sampler->file->cpu_limits->tasks_ns = now.tasks_ns - base->tasks_ns;
}

int qzi_sampler_base(struct qzi_sampler *sampler, int attached) {
  qzi_growth_note(&sampler->threads_grown, qz_session_thread_high(sampler->view), 0);
  qzi_growth_note(&sampler->objects_grown, qz_session_object_high(sampler->view), 0);
  if (!attached) return 0; /* counts from before the program connected belong to this recording */
  sum_processors(sampler->view, &sampler->totals_base);
  sum_up(sampler);
  for (uint32_t k = 0; k < sampler->sums_count; k++) sampler->sums[k].base = sampler->sums[k].count;
  return qzi_objects_base(sampler);
}
