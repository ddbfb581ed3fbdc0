/* Interning of objects, threads and stacks. See interned_stacks.h. */
#include "interned_stacks.h"

#include <string.h>
#include <sys/random.h>
#include "external_objects.h"
#include "generated.h"
#include "object_places.h"
#include "sampler/util/array.h"
#include "sampler/util/lazy_memory.h"

#define CREATORS_MAX 64 /* maximum depth of threads that create threads */

int qzi_intern_open(struct qzi_interner *in, struct qzi_file *file, const struct qz_session_view *view) {
  memset(in, 0, sizeof *in);
  in->file = file;
  in->view = view;
  in->node_keys_bytes = file->head->sections[QZ_SECTION_STACKS].capacity * sizeof *in->node_keys;
  in->object_entities_bytes = (size_t)view->object_table.capacity * sizeof *in->object_entities;
  in->futex_bytes = (size_t)view->object_table.capacity * sizeof *in->futex_records;
  in->memos_bytes = (size_t)view->thread_table.capacity * sizeof *in->memos;
  in->node_keys = qzi_lazy_memory(in->node_keys_bytes);
  in->node_prints = qzi_lazy_memory(in->node_keys_bytes);
  if (getrandom(in->seed, sizeof in->seed, GRND_NONBLOCK) != (ssize_t)sizeof in->seed) in->seed[0] = (uintptr_t)in;
  in->seed[1] |= 1;
  in->object_entities = qzi_lazy_memory(in->object_entities_bytes);
  in->futex_records = qzi_lazy_memory(in->futex_bytes);
  in->memos = qzi_lazy_memory(in->memos_bytes);
  in->bases_bytes = view->creation_table.capacity ? (size_t)view->thread_table.capacity * sizeof *in->bases : 0;
  if (in->bases_bytes) in->bases = qzi_lazy_memory(in->bases_bytes);
  if (in->node_keys && in->node_prints && in->object_entities && in->futex_records && in->memos) return 0;
  qzi_intern_close(in);
  return -1;
}

void qzi_intern_close(struct qzi_interner *in) {
  qzi_lazy_free(in->node_keys, in->node_keys_bytes);
  qzi_lazy_free(in->node_prints, in->node_keys_bytes);
  qzi_lazy_free(in->object_entities, in->object_entities_bytes);
  qzi_lazy_free(in->futex_records, in->futex_bytes);
  qzi_lazy_free(in->memos, in->memos_bytes);
  qzi_lazy_free(in->bases, in->bases_bytes);
  qzi_table_free(&in->texts);
  qzi_table_free(&in->procedures);
  qzi_table_free(&in->inlined);
  qzi_table_free(&in->nodes);
  qzi_table_free(&in->prints);
  qzi_table_free(&in->groups);
  qzi_table_free(&in->places);
  qzi_external_free(in);
  qzi_object_places_free(in);
  free(in->group);
  free(in->generated);
  qzi_generated_close(in);
  free(in->gone);
  memset(in, 0, sizeof *in);
}

/* ---- objects ---- */

uint32_t qzi_intern_object(struct qzi_interner *in, uint32_t index) {
  if (index == 0 || index >= qz_session_object_high(in->view)) return 0;
  if (in->object_entities[index]) return in->object_entities[index];
  const struct qz_object *object = qz_session_object(in->view, index);
  uint32_t kind = QZ_LOAD_ACQUIRE(&object->kind);
  if (kind == QZ_KIND_NONE || kind >= QZ_KIND_COUNT) return 0;
  if (kind == QZ_KIND_FUTEX) return qzi_external_entity(in, qzi_external_of_futex(in, index));
  uint64_t site = QZ_LOAD(&object->site);
  uint32_t name = qzi_intern_name(in, QZ_LOAD(&object->name)), entity = 0;
  if (in->objects < QZI_MAX_OBJECTS) {
    entity = qzi_intern_entity(in, kind, site, name, index);
    if (entity) in->objects++;
  } else {
    struct qz_entity *entities = in->file->entities;
    uint32_t hash = qzi_hash(site, (uint64_t)kind << 32 | name);
    QZI_TABLE_EACH(&in->places, hash, place)
    if (entities[place].address == site && entities[place].kind == kind && entities[place].name == name) {
      entities[place].instances++;
      in->file->head->entities_merged++;
      return in->object_entities[index] = place;
    }
    entity = qzi_intern_entity(in, kind, site, name, index);
    if (entity && qzi_table_add(&in->places, hash, entity)) entity = 0;
  }
  if (entity) in->file->entities[entity].variable = qzi_object_address(object);
  return in->object_entities[index] = entity;
}

/* ---- threads ---- */

static struct qzi_group *group_of(struct qzi_interner *in, uint64_t start, uint32_t name) {
  uint32_t hash = qzi_hash(start, (uint64_t)1 << 40 | name);
  QZI_TABLE_EACH(&in->groups, hash, at)
  if (in->group[at - 1].start == start && in->group[at - 1].name == name) return &in->group[at - 1];
  if (qzi_grow((void **)&in->group, &in->group_room, in->group_count + 1, sizeof *in->group)) return NULL;
  if (qzi_table_add(&in->groups, hash, in->group_count + 1)) return NULL;
  in->group[in->group_count] = (struct qzi_group){.start = start, .name = name};
  return &in->group[in->group_count++];
}

/* Entity of the creator, if the record still belongs to it: records are reused, but only by later threads. Creators
 * that were not seen yet are added too, up to a certain depth. */
static uint32_t creator_of(struct qzi_interner *in, uint32_t creator, uint64_t serial) {
  if (creator == 0 || creator > qz_session_thread_high(in->view)) return 0;
  const struct qzi_thread_memo *memo = &in->memos[creator - 1];
  if (memo->entity && memo->serial < serial) return memo->entity;
  uint64_t its = QZ_LOAD_ACQUIRE(&qz_session_thread(in->view, creator - 1)->serial);
  if (its == 0 || its >= serial || in->creator_depth == CREATORS_MAX) return 0;
  in->creator_depth++;
  uint32_t entity = qzi_intern_thread(in, creator - 1, its);
  in->creator_depth--;
  return entity;
}

uint32_t qzi_intern_thread_slow(struct qzi_interner *in, uint32_t index, uint64_t serial) {
  struct qzi_thread_memo *memo = &in->memos[index];
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  if (serial == 0) return 0;
  uint64_t start = QZ_LOAD(&thread->start);
  uint32_t given = QZ_LOAD(&thread->name), name = qzi_intern_name(in, given);
  /* It has ended since then, which the next visit will notice. */
  if (QZ_LOAD_ACQUIRE(&thread->serial) != serial) return 0;
  uint32_t creator = creator_of(in, QZ_LOAD(&thread->creator), serial);
  struct qzi_group *group = group_of(in, start, name);
  if (!group) return 0;
  struct qzi_file *file = in->file;
  int merged = group->threads >= QZI_GROUP_THREADS || in->threads >= QZI_MAX_THREADS;
  uint32_t entity = group->entity, stats = group->stats;
  if (!merged || !entity) {
    entity = qzi_intern_entity(in, QZ_ENTITY_THREAD, start, name, index);
    if (!entity) return 0;
    stats = 0;
    if (!qzi_file_room(file, QZ_SECTION_THREADS, 1)) {
      stats = (uint32_t)qzi_file_count(file, QZ_SECTION_THREADS) + 1;
      file->threads[stats - 1] =
        (struct qz_thread_stats){.entity = entity, .creator = creator, .serial = serial, .first_ns = UINT64_MAX};
      qzi_file_append(file, QZ_SECTION_THREADS, 1);
    }
    if (merged) {
      group->entity = entity;
      group->stats = stats;
    } else {
      in->threads++;
    }
  } else {
    file->entities[entity].instances++;
  }
  if (merged) file->head->entities_merged++;
  group->threads++;
  uint64_t visit_ns = memo->visit_ns;
  *memo = (struct qzi_thread_memo){
    .serial = serial, .word = QZI_NO_WORD, .visit_ns = visit_ns, .entity = entity, .stats = stats, .name = given};
  return entity;
}

/* ---- stacks ---- */

uint32_t qzi_intern_child_slow(struct qzi_interner *in, uint32_t parent, uint64_t key, uint32_t hash) {
  struct qzi_file *file = in->file;
  uint32_t entity;
  if (key & QZ_KEY_OBJECT) {
    uint32_t index = QZ_KEY_INDEX(key), futex = QZ_KEY_KIND(key) == QZ_KIND_FUTEX;
    const struct qz_object *object =
      !futex && index < qz_session_object_high(in->view) ? qz_session_object(in->view, index) : NULL;
    if (!futex && (!object || QZ_LOAD_ACQUIRE(&object->kind) != QZ_KEY_KIND(key))) {
      file->head->invalid++;
      return parent;
    }
    entity = futex ? qzi_external_entity(in, index) : qzi_intern_object(in, index);
  } else if (qzi_key_is_generated(key)) {
    entity = qzi_generated_entity(in, key);
  } else if (key & QZI_KEY_INLINED) {
    entity = (uint32_t)key;
    const struct qz_entity *its = entity < qzi_file_count(file, QZ_SECTION_ENTITIES) ? &file->entities[entity] : NULL;
    if (!its || (its->kind != QZ_ENTITY_PROCEDURE && its->kind < QZ_ENTITY_CODE_LOOP) ||
        !its->record) { /* the session has no such key */
      file->head->invalid++;
      return parent;
    }
  } else if (key == QZ_KEY_MARKER) {
    return parent;
  } else if (key == 0) {
    file->head->invalid++;
    return parent;
  } else {
    entity = qzi_intern_procedure(in, key);
  }
  if (!entity || qzi_file_room(file, QZ_SECTION_STACKS, 1)) {
    file->head->stacks_cut++;
    return parent;
  }
  uint32_t node = (uint32_t)qzi_file_count(file, QZ_SECTION_STACKS);
  file->stacks[node] = (struct qz_stack_node){parent, entity};
  in->node_keys[node] = key;
  if (qzi_table_add(&in->nodes, hash, node)) {
    file->head->stacks_cut++;
    return parent;
  }
  qzi_file_append(file, QZ_SECTION_STACKS, 1);
  return node;
}

uint32_t qzi_intern_stack_slow(struct qzi_interner *in, const uint64_t *keys, const uint64_t *prints, uint32_t depth) {
  uint32_t node = 0;
  for (uint32_t k = 0; k < depth; k++) {
    uint32_t child = qzi_intern_child(in, node, keys[k]);
    /* If a key was left out, or the stack was cut, the node's fingerprint is that of another stack, or will be. */
    if (child != node && !in->node_prints[child] && prints[k] &&
        !qzi_table_add(&in->prints, (uint32_t)(prints[k] >> 32), child))
      in->node_prints[child] = prints[k];
    node = child;
  }
  return node;
}

/* ---- where threads were created ---- */

void qzi_intern_base(struct qzi_interner *in, uint32_t index, uint64_t serial, uint32_t node) {
  uint64_t start = QZ_LOAD(&qz_session_thread(in->view, index)->start);
  uint32_t depth = 0;
  for (uint32_t at = node; at; at = in->file->stacks[at].parent)
    if (in->node_keys[at] == start) node = in->file->stacks[at].parent;
  for (uint32_t at = node; at; at = in->file->stacks[at].parent) depth++;
  in->bases[index] = (struct qzi_base){.serial = serial, .node = node, .depth = depth};
  if (in->memos[index].serial == serial) in->memos[index].word = QZI_NO_WORD;
}

uint32_t qzi_intern_based_slow(const struct qzi_interner *in, uint32_t index, uint64_t *keys, uint32_t depth) {
  const struct qzi_base *its = &in->bases[index];
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  uint64_t start = QZ_LOAD(&thread->start);
  uint32_t base = QZ_LOAD(&thread->base), node = its->node;
  if (base > depth) return depth;
  uint32_t left_out = depth == base && start; /* the creator's innermost procedure was the same */
  if (its->depth + (depth - base) + left_out > in->view->stack_limit) return depth;
  memmove(keys + its->depth, keys + base, (depth - base) * sizeof *keys);
  for (uint32_t k = its->depth; k-- > 0; node = in->file->stacks[node].parent) keys[k] = in->node_keys[node];
  if (left_out) keys[its->depth] = start;
  return its->depth + (depth - base) + left_out;
}
