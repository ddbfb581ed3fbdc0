/* Futexes seen from outside. See external_objects.h. */
#include "external_objects.h"

#include <stdio.h>
#include <string.h>
#include "sampler/machine_code/call_target.h"
#include "poll_detector.h"

#define FUTEXES_MOST 4096u /* bounds what a program can make the sampler keep */

/* One object. It is told apart by `key`: address of a static variable, module of a library, or place. */
struct qzi_futex_object {
  uint64_t key, address; /* address 0: not a static variable */
  uint64_t called;
  uint32_t kind, entity;
  int loop, tries;
  uint32_t waiters;      /* in the snapshot under way */
  uint32_t stats;        /* index + 1 into QZ_SECTION_OBJECTS */
};
enum { BY_VARIABLE = 1, BY_LIBRARY, BY_PLACE };

static struct qzi_futex_object *at(const struct qzi_interner *in, uint32_t index) { return &in->futexes[index - 1]; }

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

struct outside { uint32_t kind; int loop; uint64_t key, address, site, called; uint32_t module; };

static uint32_t make(struct qzi_interner *in, const struct outside *its) {
  struct qzi_file *file = in->file;
  if (in->futexes_count == FUTEXES_MOST) return 0;
  if (!in->futexes && !(in->futexes = calloc(FUTEXES_MOST, sizeof *in->futexes))) return 0;
  char text[300];
  uint32_t name = 0;
  if (its->kind == BY_LIBRARY) {
    int length = snprintf(text, sizeof text, "inside %s", base_name(file->strings + file->modules[its->module - 1].path));
    if (length > 0 && (size_t)length < sizeof text) name = qzi_intern_text(in, text, (size_t)length);
  }
  if (qzi_file_room(file, QZ_SECTION_ENTITIES, 1)) return 0;
  uint32_t entity = (uint32_t)qzi_file_count(file, QZ_SECTION_ENTITIES);
  file->entities[entity] = (struct qz_entity){.kind = its->loop ? QZ_KIND_LOOP : QZ_KIND_FUTEX, .name = name, .address = its->site, .module = its->module, .instances = 1};
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  uint64_t target = its->called ? qzi_call_target(file->head->pid, its->site) : 0;
  /* It called itself something that went on into the library by a jump. */
  if (target && qzi_intern_module(in, target) == its->module && qzi_intern_module(in, its->called) != its->module) target = 0;
  uint32_t index = ++in->futexes_count;
  *at(in, index) = (struct qzi_futex_object){
      .key = its->key, .address = its->address, .called = target ? target : its->called, .kind = its->kind, .loop = its->loop,
      .tries = its->loop && qzi_polling_tries(file->head->pid, its->key), .entity = entity};
  return index;
}

static uint32_t find(struct qzi_interner *in, const struct outside *its) {
  uint32_t hash = qzi_hash(its->key, (uint64_t)(2 * its->kind + (uint32_t)its->loop) << 50);
  QZI_TABLE_EACH(&in->futex_table, hash, index)
    if (at(in, index)->key == its->key && at(in, index)->kind == its->kind && at(in, index)->loop == its->loop) return index;
  uint32_t index = make(in, its);
  return index && !qzi_table_add(&in->futex_table, hash, index) ? index : 0;
}

/* By the place in the program that calls; where there is none, by the library that waits. */
static struct outside by_caller(const struct qzi_interner *in, const struct qzi_walk *walk) {
  const struct qzi_file *file = in->file;
  struct outside its = {.kind = BY_PLACE, .key = walk->site, .site = walk->site, .called = walk->called, .module = walk->site_module};
  if (walk->own || !its.module || !strstr(base_name(file->strings + file->modules[its.module - 1].path), ".so")) return its;
  its.kind = BY_LIBRARY;
  its.key = its.module;
  return its;
}

uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, const struct qzi_walk *walk) {
  const struct qzi_file *file = in->file;
  uint32_t module = qzi_intern_module(in, address);
  struct outside its = by_caller(in, walk);
  if (module && strstr(file->strings + file->modules[module - 1].path, "/libquartz-pthread.so")) {
    its = (struct outside){.kind = BY_LIBRARY, .key = module, .site = walk->site, .module = module}; /* the layer's own */
  } else if (module) {
    its.kind = BY_VARIABLE;
    its.key = its.address = address;
  }
  return find(in, &its);
}

uint32_t qzi_loop(struct qzi_interner *in, uint64_t start, const struct qzi_walk *walk) {
  struct outside its = {.kind = BY_PLACE, .loop = 1, .key = start, .site = start + 1, .module = qzi_intern_module(in, start)}; /* places are looked up as return addresses */
  struct outside called = walk ? by_caller(in, walk) : its;
  return find(in, called.called || called.kind == BY_LIBRARY ? &called : &its); /* a library that spins, and then sleeps: one object */
}

uint32_t qzi_futex_entity(const struct qzi_interner *in, uint32_t index) {
  return index && index <= in->futexes_count ? at(in, index)->entity : 0;
}

uint64_t qzi_futex_address(const struct qzi_interner *in, uint32_t entity) {
  for (uint32_t k = 1; k <= in->futexes_count; k++)
    if (at(in, k)->entity == entity) return at(in, k)->address;
  return 0;
}

uint64_t qzi_futex_called(const struct qzi_interner *in, uint32_t entity) {
  for (uint32_t k = 1; k <= in->futexes_count; k++)
    if (at(in, k)->entity == entity) return at(in, k)->called;
  return 0;
}

int qzi_futex_tries(const struct qzi_interner *in, uint32_t entity) {
  for (uint32_t k = 1; k <= in->futexes_count; k++)
    if (at(in, k)->entity == entity) return at(in, k)->tries;
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
