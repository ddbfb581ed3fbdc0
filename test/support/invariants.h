/* The invariants of docs/reference/metrics.md, section 5, for one profile. NPT is computed with exact fractions: a
 * common multiple of 1..P fits 128 bits for the P that tests use, so equality is equality. */
#ifndef TEST_INVARIANTS_H
#define TEST_INVARIANTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/profile_read.h"

typedef unsigned __int128 wide;

static int invariant_failures;
#define HOLDS(condition, ...)                                         \
  do {                                                                \
    if (!(condition)) {                                               \
      invariant_failures++;                                           \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fputc('\n', stderr);                                            \
    }                                                                 \
  } while (0)

static wide common_multiple(unsigned processors) {
  wide product = 1;
  for (unsigned i = 2; i <= processors; i++) {
    wide a = product, b = i;
    while (b) {
      wide rest = a % b;
      a = b;
      b = rest;
    }
    product = product / a * i;
  }
  return product;
}

/* Processor time of an observation counts for entity `entity` if that is on its stack. */
static int on_stack(const struct qz_profile_copy *profile, uint32_t node, uint32_t entity) {
  for (; node; node = profile->stacks[node].parent)
    if (profile->stacks[node].entity == entity) return 1;
  return 0;
}

/* Both chains: what they consist of is as long as they are. */
static void check_chains(const struct qz_profile_copy *profile) {
  const struct qz_profile *head = &profile->head;
  uint64_t on_path = 0, on_span = 0, levels = 0, end = 0;
  for (size_t k = 0; k < profile->on_path_count; k++) on_path += profile->on_path[k].ns;
  for (size_t k = 0; k < profile->on_span_count; k++) on_span += profile->on_span[k].ns;
  for (size_t k = 0; k < profile->levels_count; k++) levels += profile->levels[k].ns;
  for (size_t k = 0; k < profile->segments_count; k++) {
    HOLDS(profile->segments[k].start_ns == end, "segment %zu of the time path", k);
    end += profile->segments[k].ns;
  }
  if (head->path_ns) {
    HOLDS(head->path_ns == head->elapsed_ns, "the time path");
    HOLDS(on_path == head->path_ns && end == head->path_ns, "the time path is %llu, its parts %llu, %llu",
          (unsigned long long)head->path_ns, (unsigned long long)on_path, (unsigned long long)end);
  }
  if (!head->span_ns) return;
  HOLDS(on_span == head->span_ns, "the span is %llu, its parts %llu", (unsigned long long)head->span_ns,
        (unsigned long long)on_span);
  HOLDS(levels == head->work_ns, "the work is %llu, by levels %llu", (unsigned long long)head->work_ns,
        (unsigned long long)levels);
  HOLDS(head->typical_span_ns <= head->span_ns, "the typical span");
  HOLDS(!head->burdened_span_ns || head->burdened_span_ns >= head->span_ns, "the burdened span");
}

static void check_invariants(const struct qz_profile_copy *profile) {
  const struct qz_profile *head = &profile->head;
  unsigned processors = head->processors;
  wide unit = processors <= 40 ? common_multiple(processors) : 0;
  wide busy_ns = 0, spin_ns = 0, idle_ns = 0, nothing_ns = 0, root = 0, tuples_busy_ns = 0, tuples_spin_ns = 0,
       self_sum = 0, elapsed = 0, overhead_ns = 0, tuples_overhead_ns = 0;
  uint64_t snapshots = 0;
  HOLDS(!profile->half, "a snapshot is half added");
  check_chains(profile);
  for (size_t k = 0; k < profile->recent_paths_count; k++) {
    const struct qz_recent_path *recent = &profile->recent_paths[k];
    uint64_t ns = 0;
    HOLDS(recent->first + recent->count <= profile->recent_segments_count, "the path's end %zu", k);
    for (uint64_t n = recent->first; n < recent->first + recent->count && n < profile->recent_segments_count; n++) {
      HOLDS(profile->recent_segments[n].start_ns == recent->start_ns + ns, "segment %zu of it", (size_t)n);
      ns += profile->recent_segments[n].ns;
    }
    HOLDS(ns == recent->ns && recent->undecided_ns <= ns, "the path's end %zu", k);
    HOLDS(recent->start_ns + recent->ns <= head->elapsed_ns, "the path's end %zu", k);
  }
  for (size_t k = 0; k < profile->balance_count; k++) {
    const struct qz_balance *b = &profile->balance[k];
    elapsed += b->ns;
    snapshots += b->count;
    busy_ns += (wide)b->busy * b->ns;
    spin_ns += (wide)b->spinning * b->ns;
    idle_ns += (wide)(processors - b->busy - b->spinning) * b->ns;
    overhead_ns += b->overhead_ns;
    if (!b->busy) nothing_ns += b->ns;
  }
  HOLDS(elapsed == head->elapsed_ns, "balance %llu, elapsed %llu", (unsigned long long)elapsed,
        (unsigned long long)head->elapsed_ns);
  HOLDS(snapshots == head->snapshots, "balance %llu, head %llu", (unsigned long long)snapshots,
        (unsigned long long)head->snapshots);
  HOLDS(busy_ns + spin_ns + idle_ns == (wide)processors * head->elapsed_ns, "invariant 4");
  for (size_t k = 0; k < profile->tuples_count; k++) {
    const struct qz_tuple *t = &profile->tuples[k];
    if (t->state == QZ_STATE_USEFUL || t->state == QZ_STATE_OVERHEAD) {
      tuples_busy_ns += t->ns;
      if (t->state == QZ_STATE_OVERHEAD) tuples_overhead_ns += t->ns;
      HOLDS(t->busy > 0, "tuple %zu is busy, but b is 0", k);
      if (unit && t->busy) self_sum += unit / t->busy * t->ns;
    } else if (t->state == QZ_STATE_SPINNING) {
      tuples_spin_ns += t->ns;
      HOLDS(t->spinning > 0, "tuple %zu spins, but s is 0", k);
    }
  }
  if (unit) root = unit * (elapsed - nothing_ns);
  HOLDS(tuples_busy_ns == busy_ns, "invariant 3: processor time %llu and %llu", (unsigned long long)tuples_busy_ns,
        (unsigned long long)busy_ns);
  HOLDS(tuples_spin_ns == spin_ns, "spinning %llu and %llu", (unsigned long long)tuples_spin_ns,
        (unsigned long long)spin_ns);
  HOLDS(tuples_overhead_ns == overhead_ns, "overhead %llu and %llu", (unsigned long long)tuples_overhead_ns,
        (unsigned long long)overhead_ns);
  HOLDS(self_sum == root, "invariants 1 and 2: self NPT does not sum to the time with b >= 1");
  /* 6, entity by entity */
  for (size_t e = 1; unit && e < profile->entities_count && e < 200; e++) {
    wide npt = 0, self = 0, time = 0;
    for (size_t k = 0; k < profile->tuples_count; k++) {
      const struct qz_tuple *t = &profile->tuples[k];
      if ((t->state != QZ_STATE_USEFUL && t->state != QZ_STATE_OVERHEAD) || !t->busy) continue;
      if (profile->stacks[t->stack].entity == e) self += unit / t->busy * t->ns;
      if (!on_stack(profile, t->stack, (uint32_t)e)) continue;
      npt += unit / t->busy * t->ns;
      time += t->ns;
    }
    HOLDS(self <= npt && npt <= root, "invariant 6 for entity %zu", e);
    HOLDS(npt <= time * unit && npt * processors >= time * unit, "invariant 6 for entity %zu", e);
  }
  wide line_ns = 0, line_processors = 0, next = 0;
  for (size_t k = 0; k < profile->timeline_count; k++) {
    const struct qz_timeline *l = &profile->timeline[k];
    HOLDS(l->start_ns == next, "stretch %zu leaves a gap", k);
    next = (wide)l->start_ns + l->ns;
    line_ns += l->ns;
    line_processors += (wide)l->useful_ns + l->overhead_ns + l->spinning_ns + l->idle_ns;
    HOLDS((wide)l->useful_ns + l->overhead_ns + l->spinning_ns + l->idle_ns == (wide)processors * l->ns, "stretch %zu",
          k);
  }
  HOLDS(line_ns == elapsed, "timeline %llu, elapsed %llu", (unsigned long long)line_ns, (unsigned long long)elapsed);
  HOLDS(profile->processors_count == processors, "%zu processors", profile->processors_count);
  for (size_t k = 0; k < profile->processors_count; k++) {
    const struct qz_processor_stats *p = &profile->processors[k];
    HOLDS((wide)p->useful_ns + p->overhead_ns + p->spinning_ns + p->idle_ns == elapsed, "processor %zu", k);
  }
  for (size_t k = 0; k < profile->objects_count; k++) {
    const struct qz_object_stats *o = &profile->objects[k];
    wide sum = 0, blame = 0;
    for (unsigned b = 0; b < QZ_QUEUE_BUCKETS; b++) sum += o->queue_ns[b];
    HOLDS(sum == o->observed_ns, "queue of object %zu", k);
    for (size_t b = 0; b < profile->blame_count; b++)
      if (profile->blame[b].object == o->entity) blame += profile->blame[b].ns;
    HOLDS(blame == o->queue_length_ns, "blame for object %zu", k);
  }
}

#endif
