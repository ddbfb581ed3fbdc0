/* Waits that only the sampler knows. See external_waits.h. */
#include "external_waits.h"

#include <string.h>
#include "sampler/machine_code/call_target.h"
#include "sampler/profile/external_objects.h"
#include "poll_detector.h"

static const char *module_path(const struct qzi_interner *in, uint32_t module) {
  return in->file->strings + in->file->modules[module - 1].path;
}

uint64_t qzi_called_at(struct qzi_interner *in, uint64_t site, uint64_t entered) {
  uint64_t target = entered ? qzi_call_target(in->file->head->pid, site) : 0;
  uint32_t module = target ? qzi_intern_module(in, site) : 0;
  int is_own = module && qzi_intern_module(in, target) == module && qzi_intern_module(in, entered) != module;
  return target && !is_own ? target : entered;
}

static uint32_t object_of(struct qzi_interner *in, struct qzi_external *its) {
  uint32_t index = qzi_external_find(in, its);
  if (index) return index;
  its->called = qzi_called_at(in, its->site, its->called);
  its->tries = its->loop && qzi_poll_detector_tries(in->file->head->pid, its->key);
  return qzi_external_add(in, its);
}

/* Identifies the object by the program's place that calls; if there is none, by the library that waits. */
static struct qzi_external by_caller(const struct qzi_interner *in, const struct qzi_walk *walk) {
  struct qzi_external its = {
    .kind = QZI_BY_PLACE, .key = walk->site, .site = walk->site, .called = walk->called, .module = walk->site_module};
  if (walk->own || !its.module) return its;
  const char *path = module_path(in, its.module), *slash = strrchr(path, '/');
  if (!strstr(slash ? slash : path, ".so")) return its;
  its.kind = QZI_BY_LIBRARY;
  its.key = its.module;
  return its;
}

uint32_t qzi_futex(struct qzi_interner *in, uint64_t address, const struct qzi_walk *walk) {
  uint32_t module = qzi_intern_module(in, address);
  struct qzi_external its = by_caller(in, walk);
  if (module && strstr(module_path(in, module), "/libquartz-pthread.so")) {
    /* a futex of the pthread layer itself */
    its = (struct qzi_external){.kind = QZI_BY_LIBRARY, .key = module, .site = walk->site, .module = module};
  } else if (module) {
    its.kind = QZI_BY_VARIABLE;
    its.key = its.address = address;
  }
  return object_of(in, &its);
}

uint32_t qzi_own_wait(struct qzi_interner *in, struct qzi_own_descriptor its, int number, const struct qzi_walk *walk) {
  static const char *const names[] = {
    [QZI_OWN_COUNTER] = "eventfd", [QZI_OWN_PIPE] = "pipe", [QZI_OWN_SOCKETS] = "socket pair"};
  struct qzi_external object = {.kind = QZI_BY_DESCRIPTOR,
                                .key = (uint64_t)its.kind << 56 | its.id,
                                .site = walk->site,
                                .called = walk->called,
                                .module = walk->site_module,
                                .name = names[its.kind],
                                .descriptor = number};
  return object_of(in, &object);
}

/* The record is that of another word now; what it counted before stays with it. */
static void begin_again(struct qzi_futex_record *futex, uint32_t instance) {
  futex->instance = instance;
  futex->thread = futex->several = 0;
  if (futex->mixed) futex->mixed = QZI_MIXED_FOR_GOOD;
}

uint32_t qzi_futex_reported(struct qzi_interner *in, uint32_t record, uint32_t thread, const struct qzi_walk *walk) {
  struct qzi_futex_record *futex = &in->futex_records[record];
  const struct qz_object *object = qz_session_object(in->view, record);
  uint32_t instance = (uint32_t)QZ_LOAD(&object->instances), before = futex->external;
  if (futex->instance != instance) begin_again(futex, instance);
  if (futex->thread && futex->thread != thread && !futex->several) {
    futex->several = 1;
    futex->external = futex->first;
    if (futex->mixed == QZI_MIXED) futex->mixed = 0;
  }
  if (futex->several) return futex->external;
  uint32_t found = qzi_futex(in, QZ_LOAD(&object->address), walk);
  if (!found) return before;
  if (before && before != found) {
    if (!futex->mixed) futex->mixed = futex->thread ? QZI_MIXED : QZI_MIXED_FOR_GOOD;
    if (futex->mixed == QZI_MIXED_FOR_GOOD) qzi_external_at(in, before)->uncounted = QZI_UNCOUNTED_FOR_GOOD;
  }
  if (!futex->thread) futex->first = found;
  futex->external = found;
  futex->thread = thread;
  return found;
}

void qzi_futex_first(struct qzi_interner *in, uint32_t record, uint32_t thread, const struct qzi_walk *walk) {
  const struct qzi_futex_record *futex = &in->futex_records[record];
  const struct qz_object *object = qz_session_object(in->view, record);
  if (QZ_LOAD_ACQUIRE(&object->kind) != QZ_KIND_FUTEX) return;
  if (futex->thread && futex->instance == (uint32_t)QZ_LOAD(&object->instances)) return;
  qzi_futex_reported(in, record, thread, walk);
}

uint32_t qzi_loop(struct qzi_interner *in, uint64_t start, const struct qzi_walk *walk) {
  /* Sites are looked up as return addresses, so the site is one byte after the place. */
  struct qzi_external its = {
    .kind = QZI_BY_PLACE, .loop = 1, .key = start, .site = start + 1, .module = qzi_intern_module(in, start)};
  struct qzi_external called = walk ? by_caller(in, walk) : its;
  return object_of(in, called.called || called.kind == QZI_BY_LIBRARY
                         ? &called
                         : &its); /* a library that first spins and then sleeps has one object for both */
}
