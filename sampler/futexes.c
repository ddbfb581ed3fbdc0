/* Futexes seen from outside. See futexes.h. */
#include "futexes.h"

#include <stdio.h>
#include <string.h>

#define FUTEXES_MOST 4096u

/* One object. It is told apart by `key`: address of a static variable, module of a library, or place. */
struct qzi_futex_object {
  uint64_t key, address; /* address 0: not a static variable */
  uint32_t kind, entity;
  uint32_t waiters;      /* in the snapshot under way */
  uint32_t stats;        /* index + 1 into QZ_SECTION_OBJECTS */
};
enum { BY_VARIABLE = 1, BY_LIBRARY, BY_PLACE, LOOP };

static struct qzi_futex_object *at(const struct qzi_interner *in, uint32_t index) { return &in->futexes[index - 1]; }

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static uint32_t make(struct qzi_interner *in, uint32_t kind, uint64_t key, uint64_t address, uint64_t site, uint32_t module) {
  struct qzi_file *file = in->file;
  if (in->futexes_count == FUTEXES_MOST) return 0;
  if (!in->futexes && !(in->futexes = calloc(FUTEXES_MOST, sizeof *in->futexes))) return 0;
  char text[300];
  uint32_t name = 0;
  if (kind == BY_LIBRARY) {
    int length = snprintf(text, sizeof text, "inside %s", base_name(file->strings + file->modules[module - 1].path));
    if (length > 0 && (size_t)length < sizeof text) name = qzi_intern_text(in, text, (size_t)length);
  }
  if (qzi_file_room(file, QZ_SECTION_ENTITIES, 1)) return 0;
  uint32_t entity = (uint32_t)qzi_file_count(file, QZ_SECTION_ENTITIES);
  file->entities[entity] = (struct qz_entity){.kind = kind == LOOP ? QZ_KIND_LOOP : QZ_KIND_FUTEX, .name = name, .address = site, .module = module, .instances = 1};
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  uint32_t index = ++in->futexes_count;
  *at(in, index) = (struct qzi_futex_object){.key = key, .address = address, .kind = kind, .entity = entity};
  return index;
}

static uint32_t find(struct qzi_interner *in, uint32_t kind, uint64_t key, uint64_t address, uint64_t site, uint32_t module) {
  uint32_t hash = qzi_hash(key, (uint64_t)kind << 50);
  QZI_TABLE_EACH(&in->futex_table, hash, index)
    if (at(in, index)->key == key && at(in, index)->kind == kind) return index;
  uint32_t index = make(in, kind, key, address, site, module);
  return index && !qzi_table_add(&in->futex_table, hash, index) ? index : 0;
}

uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, uint64_t site, uint32_t site_module) {
  const struct qzi_file *file = in->file;
  uint32_t kind = BY_PLACE;
  uint64_t key = site;
  uint32_t module = qzi_intern_module(in, address);
  if (module && strstr(file->strings + file->modules[module - 1].path, "/libquartz-pthread.so")) {
    kind = BY_LIBRARY; /* the layer's own */
    key = site_module = module;
  } else if (module) {
    kind = BY_VARIABLE;
    key = address;
  } else if (site_module && strstr(base_name(file->strings + file->modules[site_module - 1].path), ".so")) {
    kind = BY_LIBRARY;
    key = site_module;
  }
  return find(in, kind, key, kind == BY_VARIABLE ? address : 0, site, site_module);
}

uint32_t qzi_loop(struct qzi_interner *in, uint64_t start) {
  return find(in, LOOP, start, 0, start + 1, qzi_intern_module(in, start)); /* places are looked up as return addresses */
}

uint32_t qzi_futex_entity(const struct qzi_interner *in, uint32_t index) {
  return index && index <= in->futexes_count ? at(in, index)->entity : 0;
}

uint64_t qzi_futex_address(const struct qzi_interner *in, uint32_t entity) {
  for (uint32_t k = 1; k <= in->futexes_count; k++)
    if (at(in, k)->entity == entity) return at(in, k)->address;
  return 0;
}

void qzi_futex_wait(struct qzi_interner *in, uint32_t index) {
  if (index && index <= in->futexes_count) at(in, index)->waiters++;
}

void qzi_futexes_add(struct qzi_sampler *sampler, uint64_t ns) {
  struct qzi_interner *in = &sampler->in;
  for (uint32_t k = 1; k <= in->futexes_count; k++) {
    struct qzi_futex_object *futex = at(in, k);
    qzi_object_seen(sampler, futex->entity, &futex->stats, futex->waiters, ns);
    futex->waiters = 0;
  }
}

void qzi_futexes_free(struct qzi_interner *in) {
  free(in->futexes);
  qzi_table_free(&in->futex_table);
}
