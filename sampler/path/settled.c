/* See settled.h. */
#include "settled.h"

#include <string.h>
#include "sampler/util/array.h"
#include "sampler/profile/interned_stacks.h"

#define SEGMENTS_MOST 65536u

/* Joins neighbours in pairs; each pair gets the attributes of the longer one. */
static void join_neighbours(struct qzi_settled *settled) {
  uint32_t count = settled->segments_count / 2;
  for (uint32_t k = 0; k < count; k++) {
    const struct qz_path_segment *a = &settled->segments[2 * k], *b = a + 1;
    struct qz_path_segment joined = a->ns >= b->ns ? *a : *b;
    joined.start_ns = a->start_ns;
    joined.ns = a->ns + b->ns;
    joined.joined = a->joined + b->joined;
    joined.came = a->came;
    joined.by = a->by;
    settled->segments[k] = joined;
  }
  if (settled->segments_count % 2) settled->segments[count++] = settled->segments[settled->segments_count - 1];
  settled->segments_count = count;
}

static void add_segment(struct qzi_settled *settled, const struct qz_on_path *its) {
  struct qz_path_segment *last = settled->segments_count ? &settled->segments[settled->segments_count - 1] : NULL;
  if (last && last->stack == its->stack && last->thread == its->thread && last->object == its->object &&
      last->state == its->state && last->arrival == its->arrival && last->inferred == its->inferred && !settled->came) {
    last->ns += its->ns;
    return;
  }
  if (settled->segments_count == settled->segments_most) join_neighbours(settled);
  if (qzi_grow((void **)&settled->segments, &settled->segments_room, settled->segments_count + 1,
               sizeof *settled->segments)) {
    settled->memory++;
    if (last) settled->segments[settled->segments_count - 1].ns += its->ns;
    return;
  }
  settled->segments[settled->segments_count++] = (struct qz_path_segment){.start_ns = settled->time,
                                                                          .ns = its->ns,
                                                                          .stack = its->stack,
                                                                          .thread = its->thread,
                                                                          .object = its->object,
                                                                          .state = its->state,
                                                                          .arrival = its->arrival,
                                                                          .inferred = its->inferred,
                                                                          .came = settled->came,
                                                                          .by = settled->by,
                                                                          .joined = 1};
  settled->came = 0;
  settled->by = 0;
}

/* The sum for such intervals, which is made if there is none; NULL if there is no memory. */
static struct qz_on_path *sum_for(struct qzi_settled *settled, const struct qz_on_path *its) {
  uint32_t hash =
    qzi_hash((uint64_t)its->stack << 32 | its->thread,
             (uint64_t)its->object << 32 | (uint32_t)its->state << 16 | (uint32_t)its->arrival << 8 | its->inferred);
  QZI_TABLE_EACH(&settled->index, hash, at) {
    struct qz_on_path *sum = &settled->sums[at - 1];
    if (sum->stack != its->stack || sum->thread != its->thread || sum->object != its->object ||
        sum->state != its->state || sum->arrival != its->arrival || sum->inferred != its->inferred)
      continue;
    return sum;
  }
  if (qzi_grow((void **)&settled->sums, &settled->sums_room, settled->sums_count + 1, sizeof *settled->sums) ||
      qzi_table_add(&settled->index, hash, settled->sums_count + 1))
    return NULL;
  struct qz_on_path *sum = &settled->sums[settled->sums_count++];
  *sum = *its;
  sum->count = sum->ns = 0;
  return sum;
}

static void add_sum(struct qzi_settled *settled, const struct qz_on_path *its) {
  struct qz_on_path *sum = sum_for(settled, its);
  if (sum) {
    sum->count++;
    sum->ns += its->ns;
    return;
  }
  settled->memory++;
  if (settled->sums_count) settled->sums[0].ns += its->ns;
}

static void add(struct qzi_settled *settled, const struct qz_on_path *its) {
  if (!its->ns) return;
  add_segment(settled, its);
  if (!settled->in_order_only) add_sum(settled, its);
  settled->time += its->ns;
}

void qzi_settled_open(struct qzi_settled *settled, struct qzi_interner *in) {
  *settled = (struct qzi_settled){.in = in, .segments_most = SEGMENTS_MOST};
}

void qzi_settled_again(struct qzi_settled *settled, const struct qzi_settled *of, uint64_t from, uint32_t most) {
  settled->in = of->in;
  settled->in_order_only = 1;
  settled->segments_most = most;
  settled->segments_count = 0;
  settled->time = from;
  settled->cut = settled->memory = 0;
  settled->by = settled->came = 0;
  uint32_t first = of->segments_count;
  while (first && of->segments[first - 1].start_ns + of->segments[first - 1].ns > from) first--;
  for (uint32_t k = first; k < of->segments_count; k++) {
    const struct qz_path_segment *its = &of->segments[k];
    settled->came = its->came;
    settled->by = its->by;
    add(settled, &(struct qz_on_path){.stack = its->stack,
                                      .thread = its->thread,
                                      .object = its->object,
                                      .state = its->state,
                                      .arrival = its->arrival,
                                      .inferred = its->inferred,
                                      .ns = its->start_ns + its->ns - settled->time});
  }
}

void qzi_settle(void *argument, const struct qzi_link *link) {
  struct qzi_settled *settled = argument;
  uint32_t object = link->key & QZ_KEY_OBJECT ? qzi_intern_object(settled->in, QZ_KEY_INDEX(link->key)) : 0;
  if (link->begin > settled->time) { /* time before the link is unknown */
    settled->cut += link->begin - settled->time;
    add(settled, &(struct qz_on_path){.state = QZ_STATE_READY, .ns = link->begin - settled->time});
  }
  uint64_t again = settled->time - link->begin; /* this time was added already, by a chain that turned out not to be
                                                   the run's */
  settled->cut += again;
  for (uint32_t k = 0; k <= link->pieces_count; k++) {
    const struct qzi_piece *piece = k ? &link->pieces[k - 1] : &link->waiting;
    if (link->arrival != QZ_ARRIVAL_SAME && k == (link->waiting.time ? 0u : link->others + 1u)) {
      settled->came = link->arrival;
      settled->by = object;
    }
    uint64_t task = again < piece->time ? again : piece->time;
    again -= task;
    add(settled, &(struct qz_on_path){.stack = piece->stack,
                                      .thread = piece->thread,
                                      .object = k ? 0 : object,
                                      .state = piece->state,
                                      .arrival = k ? 0 : link->arrival,
                                      .inferred = piece->inferred,
                                      .ns = piece->time - task});
  }
}

uint32_t qzi_settled_segments(const struct qzi_settled *settled, struct qz_path_segment *to, uint64_t start_ns,
                              uint64_t ns) {
  uint64_t left_ns = ns;
  for (uint32_t k = 0; k < settled->segments_count; k++) {
    to[k] = settled->segments[k];
    uint64_t its_ns = to[k].ns << QZ_PATH_TIME_SHIFT;
    to[k].start_ns = start_ns + ns - left_ns;
    to[k].ns = its_ns < left_ns && k + 1 < settled->segments_count ? its_ns : left_ns;
    left_ns -= to[k].ns;
  }
  return settled->segments_count;
}

void qzi_settled_write(struct qzi_settled *settled, struct qzi_file *file, uint64_t elapsed_ns) {
  uint64_t most_sums = file->head->sections[QZ_SECTION_ON_PATH].capacity,
           most_segments = file->head->sections[QZ_SECTION_SEGMENTS].capacity, left_ns = elapsed_ns;
  while (settled->segments_count > most_segments && settled->segments_count > 1) join_neighbours(settled);
  while (settled->sums_count > most_sums && settled->sums_count > 1) { /* the remainder goes to the unknown thread */
    struct qz_on_path *last = &settled->sums[--settled->sums_count];
    settled->sums[0].ns += last->ns;
    settled->cut += last->ns;
  }
  file->head->sections[QZ_SECTION_ON_PATH].count = 0; /* what was shown meanwhile */
  if (!settled->segments_count || !settled->sums_count ||
      qzi_file_room(file, QZ_SECTION_ON_PATH, settled->sums_count) ||
      qzi_file_room(file, QZ_SECTION_SEGMENTS, settled->segments_count))
    return;
  qzi_settled_segments(settled, file->segments, 0, elapsed_ns);
  for (uint32_t k = settled->sums_count;
       k-- > 0;) { /* the first one, the beginning of the run, gets the remainder of rounding */
    struct qz_on_path *its = &settled->sums[k];
    its->ns = k ? its->ns << QZ_PATH_TIME_SHIFT : left_ns;
    left_ns -= its->ns < left_ns ? its->ns : left_ns;
    file->on_path[k] = *its;
  }
  qzi_file_append(file, QZ_SECTION_ON_PATH, settled->sums_count);
  qzi_file_append(file, QZ_SECTION_SEGMENTS, settled->segments_count);
  file->head->path_ns = elapsed_ns;
  file->head->path_cut_ns = settled->cut << QZ_PATH_TIME_SHIFT;
}

static struct qz_on_path part_of(const struct qz_path_segment *its, uint64_t from, uint64_t until) {
  uint64_t begin = its->start_ns > from ? its->start_ns : from, end = its->start_ns + its->ns;
  if (end > until) end = until;
  return (struct qz_on_path){.stack = its->stack,
                             .thread = its->thread,
                             .object = its->object,
                             .state = its->state,
                             .arrival = its->arrival,
                             .inferred = its->inferred,
                             .ns = end > begin ? end - begin : 0};
}

void qzi_settled_sum(struct qzi_settled *settled, const struct qzi_settled *of, uint64_t until) {
  for (uint32_t k = 0; k < of->segments_count; k++) {
    struct qz_on_path part = part_of(&of->segments[k], settled->time, until);
    if (part.ns) add_sum(settled, &part);
  }
  if (until > settled->time) settled->time = until;
}

void qzi_settled_show(struct qzi_settled *settled, const struct qzi_settled *of, struct qzi_file *file) {
  for (uint32_t k = 0; k < of->segments_count; k++) {
    struct qz_on_path part = part_of(&of->segments[k], settled->time, UINT64_MAX);
    if (part.ns && !sum_for(settled, &part)) return;
  }
  uint64_t has = qzi_file_count(file, QZ_SECTION_ON_PATH), more = settled->sums_count - has;
  if (has > settled->sums_count || qzi_file_room(file, QZ_SECTION_ON_PATH, more) ||
      qzi_grow((void **)&settled->shown, &settled->shown_room, settled->sums_count, sizeof *settled->shown))
    return;
  for (uint32_t k = 0; k < settled->sums_count; k++) settled->shown[k] = settled->sums[k].ns;
  for (uint32_t k = 0; k < of->segments_count; k++) {
    struct qz_on_path part = part_of(&of->segments[k], settled->time, UINT64_MAX);
    if (part.ns) settled->shown[sum_for(settled, &part) - settled->sums] += part.ns;
  }
  for (uint32_t k = 0; k < settled->sums_count; k++) {
    struct qz_on_path its = settled->sums[k];
    its.ns = settled->shown[k] << QZ_PATH_TIME_SHIFT;
    file->on_path[k] = its;
  }
  qzi_file_append(file, QZ_SECTION_ON_PATH, more);
}

void qzi_settled_free(struct qzi_settled *settled) {
  free(settled->sums);
  free(settled->shown);
  free(settled->segments);
  qzi_table_free(&settled->index);
  memset(settled, 0, sizeof *settled);
}
