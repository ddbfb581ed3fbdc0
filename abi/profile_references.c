/* Whether what a profile says makes sense. See profile_references.h. */
#include "profile_references.h"
#include "mpi_log.h"

static int known_kind(uint32_t kind) {
  return (kind > QZ_KIND_NONE && kind < QZ_KIND_COUNT) || (kind >= QZ_ENTITY_PROCEDURE && kind <= QZ_ENTITY_CODE_LINE);
}

int qzi_profile_check_names(struct qzi_profile_source *source, const struct qz_profile_copy *copy) {
  size_t strings = copy->strings_bytes, modules = copy->modules_count;
  const struct qz_profile *head = &copy->head;
  if (head->program >= strings || head->arguments >= strings || head->host >= strings || head->version_text >= strings)
    return qzi_profile_damaged(source, "its head names a string that is not there");
  for (size_t k = 1; k < copy->entities_count; k++) {
    const struct qz_entity *entity = &copy->entities[k];
    if (!known_kind(entity->kind) || entity->name >= strings || entity->file >= strings || entity->detail >= strings ||
        entity->module > modules || entity->origin > QZ_ORIGIN_INSTALLED ||
        entity->library_wait > QZ_LIBRARY_WAIT_TASKS || entity->naming > QZ_NAMING_INSIDE ||
        entity->missing > QZ_MISSING_SYSTEM || (entity->kind >= QZ_ENTITY_CODE_LOOP && entity->record >= k))
      return qzi_profile_damaged(source, "entity %zu makes no sense", k);
  }
  for (size_t k = 0; k < modules; k++)
    if (copy->modules[k].start >= copy->modules[k].end || copy->modules[k].path >= strings ||
        copy->modules[k].build_id >= strings)
      return qzi_profile_damaged(source, "module %zu makes no sense", k);
  for (size_t k = 1; k < copy->stacks_count; k++)
    if (copy->stacks[k].parent >= k || copy->stacks[k].entity == 0 || copy->stacks[k].entity >= copy->entities_count)
      return qzi_profile_damaged(source, "stack %zu makes no sense", k);
  return 0;
}

static int segment_fits(const struct qz_profile_copy *copy, const struct qz_path_segment *its) {
  size_t entities = copy->entities_count;
  return its->stack < copy->stacks_count && its->thread < entities && its->object < entities && its->by < entities &&
         its->state < QZ_STATE_COUNT && its->arrival < QZ_ARRIVAL_COUNT && its->came < QZ_ARRIVAL_COUNT;
}

int qzi_profile_check_references(struct qzi_profile_source *source, const struct qz_profile_copy *copy) {
  size_t entities = copy->entities_count, stacks = copy->stacks_count, processors = copy->head.processors;
  for (size_t k = 0; k < copy->tuples_count; k++) {
    const struct qz_tuple *tuple = &copy->tuples[k];
    if (tuple->stack >= stacks || tuple->thread >= entities || tuple->state == QZ_STATE_IDLE ||
        tuple->state >= QZ_STATE_COUNT || (size_t)tuple->busy + tuple->spinning > processors)
      return qzi_profile_damaged(source, "tuple %zu makes no sense", k);
  }
  for (size_t k = 0; k < copy->balance_count; k++)
    if ((size_t)copy->balance[k].busy + copy->balance[k].spinning > processors)
      return qzi_profile_damaged(source, "balance %zu makes no sense", k);
  for (size_t k = 0; k < copy->objects_count; k++)
    if (copy->objects[k].entity == 0 || copy->objects[k].entity >= entities)
      return qzi_profile_damaged(source, "object %zu makes no sense", k);
  for (size_t k = 0; k < copy->blame_count; k++)
    if (copy->blame[k].object >= entities || copy->blame[k].stack >= stacks || copy->blame[k].thread >= entities)
      return qzi_profile_damaged(source, "blame %zu makes no sense", k);
  for (size_t k = 0; k < copy->wait_overlap_count; k++)
    if (copy->wait_overlap[k].object >= entities || copy->wait_overlap[k].stack >= stacks ||
        copy->wait_overlap[k].thread >= entities)
      return qzi_profile_damaged(source, "wait overlap (%zu) makes no sense", k);
  for (size_t k = 0; k < copy->on_path_count; k++) {
    const struct qz_on_path *its = &copy->on_path[k];
    if (its->stack >= stacks || its->thread >= entities || its->object >= entities || its->state >= QZ_STATE_COUNT ||
        its->arrival >= QZ_ARRIVAL_COUNT)
      return qzi_profile_damaged(source, "the time on the path (%zu) makes no sense", k);
  }
  for (size_t k = 0; k < copy->segments_count; k++)
    if (!segment_fits(copy, &copy->segments[k]))
      return qzi_profile_damaged(source, "segment %zu of the path makes no sense", k);
  for (size_t k = 0; k < copy->recent_segments_count; k++)
    if (!segment_fits(copy, &copy->recent_segments[k]))
      return qzi_profile_damaged(source, "segment %zu of the path's end makes no sense", k);
  if (copy->unwinding_count > copy->modules_count + 1)
    return qzi_profile_damaged(source, "walks through a module that is not there");
  for (size_t k = 0; k < copy->instructions_count; k++)
    if (copy->instructions[k].procedure >= entities)
      return qzi_profile_damaged(source, "instruction %zu makes no sense", k);
  for (size_t k = 0; k < copy->lines_count; k++) {
    int fits = copy->lines[k].variable < copy->strings_bytes;
    for (unsigned user = 0; user < QZ_LINE_USERS; user++)
      fits &= copy->lines[k].by[user].thread < entities && copy->lines[k].by[user].procedure < entities;
    if (!fits) return qzi_profile_damaged(source, "shared cache line %zu makes no sense", k);
  }
  for (size_t k = 0; k < copy->counted_count; k++)
    if (copy->counted[k].stack >= stacks || copy->counted[k].counter >= QZ_COUNTER_COUNT)
      return qzi_profile_damaged(source, "what was counted (%zu) makes no sense", k);
  for (size_t k = 0; k < copy->messages_count; k++)
    if (copy->messages[k].call >= entities || copy->messages[k].kind < QZ_MPI_SENT ||
        copy->messages[k].kind > QZ_MPI_PREFIX || copy->messages[k].thinning > QZ_MPI_THIN_MOST)
      return qzi_profile_damaged(source, "message %zu makes no sense", k);
  for (size_t k = 1; k < copy->slices_count; k++) {
    const struct qz_slice *its = &copy->slices[k];
    if (its->stack >= stacks || its->thread >= entities || its->state >= QZ_STATE_COUNT)
      return qzi_profile_damaged(source, "slice %zu of a thread makes no sense", k);
  }
  for (size_t k = 0; k < copy->on_span_count; k++)
    if (copy->on_span[k].stack >= stacks || copy->on_span[k].thread >= entities)
      return qzi_profile_damaged(source, "what is on the span (%zu) makes no sense", k);
  for (size_t k = 0; k < copy->sites_count; k++)
    if (copy->sites[k].start >= entities || copy->sites[k].caller >= entities)
      return qzi_profile_damaged(source, "spawn site %zu makes no sense", k);
  for (size_t k = 0; k < copy->what_if_count; k++)
    if (copy->what_if[k].kind >= QZ_WHAT_IF_KINDS || copy->what_if[k].entity >= entities ||
        copy->what_if[k].name >= copy->strings_bytes)
      return qzi_profile_damaged(source, "answer %zu to what if makes no sense", k);
  for (size_t k = 0; k < copy->calls_count; k++)
    if (copy->calls[k].caller >= entities || copy->calls[k].callee >= entities)
      return qzi_profile_damaged(source, "call count %zu makes no sense", k);
  for (size_t k = 0; k < copy->threads_count; k++)
    if (copy->threads[k].entity == 0 || copy->threads[k].entity >= entities || copy->threads[k].creator >= entities)
      return qzi_profile_damaged(source, "thread %zu makes no sense", k);
  for (size_t k = 0; k < copy->timeline_count; k++)
    if (copy->timeline[k].top >= entities)
      return qzi_profile_damaged(source, "stretch %zu of the timeline makes no sense", k);
  return 0;
}
