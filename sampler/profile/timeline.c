/* The timeline. See timeline.h. */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>
#include "interner.h"
#include "sampler/util/lazy_memory.h"

int qzi_timeline_open(struct qzi_timeline *line, struct qzi_file *file) {
  memset(line, 0, sizeof *line);
  line->file = file;
  line->length_ns = QZI_STRETCH_NS;
  line->touched_room = 1024;
  line->entity_bytes = file->head->sections[QZ_SECTION_ENTITIES].capacity * sizeof *line->entity_ns;
  line->top_ns = calloc(file->head->sections[QZ_SECTION_TIMELINE].capacity, sizeof *line->top_ns);
  line->touched = calloc(line->touched_room, sizeof *line->touched);
  line->entity_ns = qzi_lazy_memory(line->entity_bytes);
  if (line->top_ns && line->touched && line->entity_ns) return 0;
  qzi_timeline_close(line);
  return -1;
}

void qzi_timeline_close(struct qzi_timeline *line) {
  free(line->top_ns);
  free(line->touched);
  qzi_lazy_free(line->entity_ns, line->entity_bytes);
  memset(line, 0, sizeof *line);
}

/* Joins neighbours in pairs, in place. */
static void halve(struct qzi_timeline *line) {
  struct qz_timeline *all = line->file->timeline;
  uint64_t *count = &line->file->head->sections[QZ_SECTION_TIMELINE].count, half = *count / 2;
  for (uint64_t k = 0; k < half; k++) {
    struct qz_timeline joined = all[2 * k];
    const struct qz_timeline *second = &all[2 * k + 1];
    uint64_t top_ns = line->top_ns[2 * k];
    joined.ns += second->ns;
    joined.useful_ns += second->useful_ns;
    joined.overhead_ns += second->overhead_ns;
    joined.spinning_ns += second->spinning_ns;
    joined.idle_ns += second->idle_ns;
    joined.runnable_ns += second->runnable_ns;
    joined.snapshots += second->snapshots;
    if (joined.top == second->top) {
      top_ns += line->top_ns[2 * k + 1];
    } else if (line->top_ns[2 * k + 1] > top_ns) {
      joined.top = second->top;
      top_ns = line->top_ns[2 * k + 1];
    }
    all[k] = joined;
    line->top_ns[k] = top_ns;
  }
  if (*count % 2) {
    all[half] = all[*count - 1];
    line->top_ns[half] = line->top_ns[*count - 1];
    half++;
  }
  __atomic_store_n(count, half, __ATOMIC_RELEASE);
  line->length_ns *= 2;
}

int qzi_timeline_prepare(struct qzi_timeline *line, uint64_t start_ns) {
  struct qzi_file *file = line->file;
  uint64_t count = qzi_file_count(file, QZ_SECTION_TIMELINE);
  if (count && file->timeline[count - 1].ns < line->length_ns) return 0;
  if (count == file->head->sections[QZ_SECTION_TIMELINE].capacity) {
    halve(line);
    count = qzi_file_count(file, QZ_SECTION_TIMELINE);
  }
  if (qzi_file_room(file, QZ_SECTION_TIMELINE, 1)) return -1;
  for (uint32_t k = 0; k < line->touched_count; k++) line->entity_ns[line->touched[k]] = 0;
  line->touched_count = 0;
  line->best = 0;
  line->top_ns[count] = 0;
  file->timeline[count] = (struct qz_timeline){.start_ns = start_ns};
  qzi_file_append(file, QZ_SECTION_TIMELINE, 1);
  return 0;
}

uint32_t qzi_timeline_entity(const struct qzi_timeline *line, uint32_t node) {
  const struct qz_stack_node *stacks = line->file->stacks;
  while (line->file->entities[stacks[node].entity].kind >= QZ_ENTITY_CODE_LOOP) node = stacks[node].parent;
  return stacks[node].entity;
}

void qzi_timeline_first_top(struct qzi_timeline *line, uint32_t entity, uint64_t ns) {
  if (line->touched_count == line->touched_room) {
    uint32_t *touched = realloc(line->touched, 2 * line->touched_room * sizeof *touched);
    if (!touched) return; /* the entity can't become the top of this stretch */
    line->touched = touched;
    line->touched_room *= 2;
  }
  line->touched[line->touched_count++] = entity;
  line->entity_ns[entity] += ns;
  if (ns > line->entity_ns[line->best] || line->best == 0) line->best = entity;
}

void qzi_timeline_resize(struct qzi_timeline *line, uint32_t before, uint32_t processors) {
  uint64_t count = qzi_file_count(line->file, QZ_SECTION_TIMELINE);
  for (uint64_t k = 0; k < count; k++) {
    struct qz_timeline *stretch = &line->file->timeline[k];
    stretch->idle_ns = stretch->idle_ns + processors * stretch->ns - before * stretch->ns;
  }
}

void qzi_timeline_add(struct qzi_timeline *line, uint64_t ns, unsigned processors, unsigned useful, unsigned overhead,
                      unsigned spinning, uint32_t runnable, int whole) {
  uint64_t last = qzi_file_count(line->file, QZ_SECTION_TIMELINE) - 1;
  struct qz_timeline *stretch = &line->file->timeline[last];
  stretch->ns += ns;
  stretch->useful_ns += useful * ns;
  stretch->overhead_ns += overhead * ns;
  stretch->spinning_ns += spinning * ns;
  stretch->idle_ns += (processors - useful - overhead - spinning) * ns;
  stretch->runnable_ns += runnable * ns;
  stretch->snapshots += whole != 0;
  stretch->top = line->best;
  line->top_ns[last] = line->best ? line->entity_ns[line->best] : 0;
}
