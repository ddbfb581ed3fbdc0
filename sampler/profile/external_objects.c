/* Objects that only the sampler knows. See external_objects.h. */
#include "external_objects.h"

#include <stdio.h>
#include <string.h>

#define EXTERNALS_MOST 4096u /* limits the memory that a program can make the sampler use */

static uint32_t hash_of(const struct qzi_external *its) {
  return qzi_hash(its->key, (uint64_t)(2 * its->kind + (uint32_t)its->loop) << 50);
}

struct qzi_external_object *qzi_external_at(const struct qzi_interner *in, uint32_t index) {
  return &in->externals[index - 1];
}

uint32_t qzi_external_find(const struct qzi_interner *in, const struct qzi_external *its) {
  QZI_TABLE_EACH(&in->external_table, hash_of(its), index) {
    const struct qzi_external *other = &qzi_external_at(in, index)->its;
    if (other->key == its->key && other->kind == its->kind && other->loop == its->loop) return index;
  }
  return 0;
}

uint32_t qzi_external_add(struct qzi_interner *in, const struct qzi_external *its) {
  struct qzi_file *file = in->file;
  if (in->externals_count == EXTERNALS_MOST) return 0;
  if (!in->externals && !(in->externals = calloc(EXTERNALS_MOST, sizeof *in->externals))) return 0;
  char text[300];
  uint32_t name = 0;
  if (its->kind == QZI_BY_LIBRARY) {
    const char *path = file->strings + file->modules[its->module - 1].path, *slash = strrchr(path, '/');
    int length = snprintf(text, sizeof text, "inside %s", slash ? slash + 1 : path);
    if (length > 0 && (size_t)length < sizeof text) name = qzi_intern_text(in, text, (size_t)length);
  } else if (its->kind == QZI_BY_DESCRIPTOR) {
    int length = snprintf(text, sizeof text, "%s %d", its->name, its->descriptor);
    if (length > 0 && (size_t)length < sizeof text) name = qzi_intern_text(in, text, (size_t)length);
  }
  if (qzi_file_room(file, QZ_SECTION_ENTITIES, 1)) return 0;
  uint32_t entity = (uint32_t)qzi_file_count(file, QZ_SECTION_ENTITIES);
  file->entities[entity] = (struct qz_entity){.kind = its->loop ? QZ_KIND_LOOP : QZ_KIND_FUTEX,
                                              .name = name,
                                              .address = its->site,
                                              .module = its->module,
                                              .instances = 1};
  if (its->kind == QZI_BY_DESCRIPTOR) {
    file->entities[entity].library_wait = QZ_LIBRARY_WAIT_DATA;
    file->entities[entity].naming = QZ_NAMING_PLACE;
  }
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  uint32_t index = ++in->externals_count;
  *qzi_external_at(in, index) = (struct qzi_external_object){.its = *its, .entity = entity};
  return qzi_table_add(&in->external_table, hash_of(its), index) ? 0 : index;
}

uint32_t qzi_external_of_futex(struct qzi_interner *in, uint32_t record) {
  const struct qz_object *object = qz_session_object(in->view, record);
  if (in->futex_records[record].external) return in->futex_records[record].external;
  uint64_t address = qzi_object_address(object), site = QZ_LOAD(&object->site);
  struct qzi_external its = {.kind = QZI_BY_PLACE, .key = site, .site = site, .module = qzi_intern_module(in, site)};
  if (address != UINT64_MAX && qzi_intern_module(in, address)) {
    its.kind = QZI_BY_VARIABLE;
    its.key = its.address = address;
  }
  uint32_t index = qzi_external_find(in, &its);
  return index ? index : qzi_external_add(in, &its);
}

uint32_t qzi_external_entity(const struct qzi_interner *in, uint32_t index) {
  return index && index <= in->externals_count ? qzi_external_at(in, index)->entity : 0;
}

const struct qzi_external *qzi_external_of(const struct qzi_interner *in, uint32_t entity) {
  for (uint32_t k = 1; k <= in->externals_count; k++)
    if (qzi_external_at(in, k)->entity == entity) return &qzi_external_at(in, k)->its;
  return NULL;
}

void qzi_external_wait(struct qzi_interner *in, uint32_t index) {
  if (index && index <= in->externals_count) qzi_external_at(in, index)->waiters++;
}

void qzi_external_free(struct qzi_interner *in) {
  free(in->externals);
  qzi_table_free(&in->external_table);
}
