/* Names of paths, by which a record is recognized that already contains what a task needs. See tasks.h.
 *
 * Owns:    qz_thread.filled; what processors know of the places at which they spawn.
 * Writer:  the processor that runs the thread.
 * Must not: be part of the pthread layer, which has no tasks.
 */
#include "private.h"
#include "tasks.h"

static const struct qz_entry *entry_at(const struct qz_thread *record, uint32_t top) {
  return (const struct qz_entry *)(const void *)((const char *)&record->word + top);
}

/* The name of a path: a hash of the keys of its procedures, without repeats, as they are copied into the record of a
 * thread that is created there. Continues `name`, which is that of the entries up to `from`. */
static uint64_t path_name(uint64_t name, const struct qz_entry *from, const struct qz_entry *top) {
  uint64_t last = from->key;
  for (from++; from <= top; from++) {
    uint64_t key = from->key;
    if (key & QZ_KEY_OBJECT || key == last) continue;
    last = key;
    name = (name ^ key) * QZ_HASH_FACTOR;
    name ^= name >> 29;
  }
  return name | 1;
}

uint64_t qzi_pub_path_goes_on(struct qz_thread *record) {
  uint32_t top = qzi_pub_top(record), first = record->first_top;
  if (!record->filled) record->filled = path_name(1, &record->bottom, entry_at(record, first));
  return top < first ? 0 : path_name(record->filled, entry_at(record, first), entry_at(record, top));
}

const struct qzi_pub_spawns *qzi_pub_spawns_at(struct qzi_publisher *p, uint64_t start, uint64_t named, uint64_t site,
                                               uint64_t path) {
  static uint64_t made;
  struct qzi_pub_spawns *place = &p->places[site >> 2 & (QZI_PUB_SITES - 1)];
  if (!path) path = QZI_NO_PATH; /* not found again */
  if (place->site == site && place->start == start && place->named == named && place->path == path &&
      path != QZI_NO_PATH)
    return place;
  struct qz_call *call = qzi_call_slot((uint64_t)(uintptr_t)p->calls, site, start);
  if (!call) return NULL;
  *place = (struct qzi_pub_spawns){site, start, named, path, __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED), call, {0}};
  return place;
}
