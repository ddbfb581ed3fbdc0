/* Records of synchronization objects: assignment at the first published use, reuse by place, sharing when the table is
 * full.
 *
 * Owns:    the assignment of records to objects; the free records of each place.
 * Writer:  any kernel thread, under `lock`; the statistics of a record: the holder of the object (publisher.h).
 * Reader:  the sampler.
 * Must not: give a record to another kind, name or place; take `lock` twice for the same object on a path without
 * waiting.
 *
 * A place is (kind, name, site). When the table is nearly full, every place gets one more record, which all its further
 * objects share; these count with atomic operations. The very last records are one per kind, for the case that even
 * that fails.
 */
#include <pthread.h>
#include "private.h"
#include "object_records.h"

/* Private data of a record, by index. */
struct slot {
  uint64_t site;
  uint32_t name;
  uint32_t kind;
  uint32_t next_free; /* next free record of the place; the head is at the place's first record */
  uint32_t shared;    /* at the place's first record: the one to share; 0: none */
  uint32_t members;   /* at the place's first record: number of records for one object each */
  uint32_t first;     /* the place's first record */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots;
static uint32_t *places; /* hash table: index of the first record of a place; 0: free */
static uint32_t place_mask;
static uint32_t high = 1; /* records with lower indices have been used */
static uint32_t of_kind[QZ_KIND_COUNT];
static uint64_t merged;

int qzi_objects_make(void) {
  if (slots) return 0;
  uint32_t size = 1;
  while (size < 2 * qzi_session.objects) size *= 2;
  slots = qzi_pub_reserve((size_t)qzi_session.objects * sizeof *slots);
  places = qzi_pub_reserve((size_t)size * sizeof *places);
  place_mask = size - 1;
  return slots && places ? 0 : -1;
}

void qzi_objects_forked(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

bool qzi_objects_free(void) {
  if (pthread_mutex_trylock(&lock)) return false;
  pthread_mutex_unlock(&lock);
  return true;
}

/* Makes the record visible to the sampler. */
static void show(uint32_t index) {
  struct qz_object *record = &qzi_pub_objects[index];
  record->name = slots[index].name;
  record->site = slots[index].site;
  __atomic_store_n(&record->kind, slots[index].kind, __ATOMIC_RELEASE);
}

/* In a forked child the objects keep their indices. */
void qzi_objects_mapped(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 1; k < high; k++) show(k);
  qzi_session.head->object_high = high;
  qzi_session.head->objects_merged = merged;
  pthread_mutex_unlock(&lock);
}

static uint32_t take_new(unsigned kind, uint32_t name, uint64_t site) {
  uint32_t index = high++;
  slots[index] = (struct slot){.site = site, .name = name, .kind = kind};
  show(index);
  __atomic_store_n(&qzi_session.head->object_high, high, __ATOMIC_RELEASE);
  return index;
}

/* Returns the place's entry in the hash table, or the free one where it would be. */
static uint32_t *find(unsigned kind, uint32_t name, uint64_t site) {
  uint64_t hash = (site ^ (uint64_t)name << 20 ^ kind) * QZ_HASH_FACTOR;
  for (uint32_t k = (uint32_t)(hash >> 32) & place_mask;; k = (k + 1) & place_mask) {
    const struct slot *slot = &slots[places[k]];
    if (!places[k] || (slot->site == site && slot->name == name && slot->kind == kind)) return &places[k];
  }
}

static uint32_t share_kind(unsigned kind) {
  if (!of_kind[kind]) of_kind[kind] = take_new(kind, 0, 0);
  return of_kind[kind];
}

/* Returns the record that objects of the place share. */
static uint32_t share(unsigned kind, uint32_t name, uint64_t site) {
  uint32_t last = qzi_session.objects - QZ_KIND_COUNT, *place = find(kind, name, site), first = *place;
  if (first && slots[first].shared) return slots[first].shared | QZI_PUB_SHARED;
  if (high >= last) return share_kind(kind) | QZI_PUB_SHARED;
  uint32_t index = take_new(kind, name, site);
  if (!first) *place = first = index;
  slots[index].first = first;
  slots[first].shared = index;
  return index | QZI_PUB_SHARED;
}

/* Returns a record of the place for one object, or one to share. */
static uint32_t obtain(unsigned kind, uint32_t name, uint64_t site) {
  uint32_t plenty = qzi_session.objects - qzi_session.objects / 8;
  uint32_t *place = find(kind, name, site), first = *place;
  if (first && slots[first].next_free) {
    uint32_t index = slots[first].next_free;
    slots[first].next_free = slots[index].next_free == index ? 0 : slots[index].next_free;
    return index;
  }
  if (high < plenty) {
    uint32_t index = take_new(kind, name, site);
    if (!first) *place = first = index;
    slots[index].first = first;
    slots[first].members++;
    return index;
  }
  qzi_pub_store(&qzi_session.head->objects_merged, ++merged);
  return share(kind, name, site);
}

uint32_t qzi_pub_register(struct qzi_pub_object *object, unsigned kind, const void *address, uint64_t site,
                          uint32_t capacity) {
  pthread_mutex_lock(&lock);
  uint32_t index = object->index;
  if (!index) {
    if (!object->site) object->site = site;
    index = obtain(kind, object->name, object->site);
    struct qz_object *record = QZI_PUB_OBJECT(index);
    record->capacity = capacity;
    if (!(index & QZI_PUB_SHARED)) record->owner = record->queue = record->readers = 0;
    qzi_pub_store(&record->instances, record->instances + 1);
    qzi_pub_store(&record->address, (uint64_t)(uintptr_t)address);
    qzi_pub_store(&record->home, !record->home || record->home == record->address ? record->address : UINT64_MAX);
    __atomic_store_n(&object->index, index, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return index;
}

void qzi_pub_object_destroyed(struct qzi_pub_object *object) {
  pthread_mutex_lock(&lock);
  uint32_t index = object->index;
  object->index = 0;
  if (index && !(index & QZI_PUB_SHARED)) {
    struct slot *slot = &slots[index], *first = &slots[*find(slot->kind, slot->name, slot->site)];
    slot->next_free = first->next_free ? first->next_free : index; /* the last one of the chain refers to itself */
    first->next_free = index;
    qzi_pub_store(&qzi_pub_objects[index].address, 0);
    __atomic_store_n(&qzi_pub_objects[index].owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&qzi_pub_objects[index].queue, 0, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&lock);
}

uint32_t qzi_pub_aggregate(unsigned kind, uint64_t site) {
  pthread_mutex_lock(&lock);
  uint32_t index = share(kind, 0, site);
  struct qz_object *record = QZI_PUB_OBJECT(index);
  qzi_pub_store(&record->home, UINT64_MAX);
  pthread_mutex_unlock(&lock);
  return index;
}

void qzi_pub_anonymous(uint32_t index) {
  qzi_pub_store(&qzi_pub_objects[index].home, UINT64_MAX);
  qzi_pub_store(&qzi_pub_objects[index].address, 0);
}

uint32_t qzi_object_place(uint32_t index) { return slots[index].first; }

uint32_t qzi_object_shared(uint32_t index) {
  pthread_mutex_lock(&lock);
  uint32_t shared = share(slots[index].kind, slots[index].name, slots[index].site);
  pthread_mutex_unlock(&lock);
  return shared & ~QZI_PUB_SHARED;
}

uint32_t qzi_pub_members(unsigned kind, uint64_t site, bool *some_free) {
  pthread_mutex_lock(&lock);
  uint32_t first = *find(kind, 0, site), members = first ? slots[first].members : 0;
  *some_free = first && slots[first].next_free;
  pthread_mutex_unlock(&lock);
  return members;
}

uint32_t qzi_pub_place(unsigned kind, uint64_t site) {
  pthread_mutex_lock(&lock);
  uint32_t first = *find(kind, 0, site);
  pthread_mutex_unlock(&lock);
  return first;
}

uint32_t qzi_pub_site_slow(struct qzi_publisher *p, unsigned kind, uint64_t site) {
  pthread_mutex_lock(&lock);
  uint32_t *place = find(kind, 0, site), index = *place;
  if (!index) {
    uint32_t last = qzi_session.objects - QZ_KIND_COUNT;
    index = high < last ? take_new(kind, 0, site) : share_kind(kind);
    if (high < last) *place = index;
    qzi_pub_store(&qzi_pub_objects[index].instances, 1);
  }
  pthread_mutex_unlock(&lock);
  index |= QZI_PUB_SHARED;
  qzi_pub_write_joins(p); /* the slot may hold counts of another site */
  p->sites[site >> 2 & (QZI_PUB_SITES - 1)] = (struct qzi_pub_site_slot){.site = site, .kind = kind, .index = index};
  return index;
}

static void write_joins(struct qzi_pub_site_slot *slot) {
  uint32_t joins = (uint32_t)(qzi_pub_joins_kept(slot->written) - slot->left);
  __atomic_fetch_add(&QZI_PUB_OBJECT(slot->index)->acquisitions, joins, __ATOMIC_RELAXED);
  slot->written += joins;
  slot->left = 0;
}

void qzi_pub_joins_due(struct qzi_publisher *p, struct qzi_pub_site_slot *slot) {
  if (slot->left < 0) {
    p->sites_joined |= UINT64_C(1) << (slot - p->sites);
    slot->left = qzi_pub_joins_kept(slot->written) - 1;
  }
  if (!slot->left) qzi_pub_write_joins(p);
}

void qzi_pub_write_joins(struct qzi_publisher *p) {
  for (uint64_t left = p->sites_joined; left; left &= left - 1) write_joins(&p->sites[__builtin_ctzll(left)]);
  p->sites_joined = 0;
}

/* Discards counts that belong to the process that was forked. */
void qzi_pub_forget_joins(struct qzi_publisher *p) {
  for (uint64_t left = p->sites_joined; left; left &= left - 1) p->sites[__builtin_ctzll(left)].left = 0;
  p->sites_joined = 0;
}

uint32_t qzi_pub_loop(struct qzi_publisher *p, uint64_t site, const void *object) {
  uint32_t index = qzi_pub_site(p, QZ_KIND_LOOP, site);
  if (!index || !object) return index;
  uint64_t *home = &QZI_PUB_OBJECT(index)->home, none = 0, address = (uint64_t)(uintptr_t)object;
  if (!__atomic_compare_exchange_n(home, &none, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && none != address)
    qzi_pub_store(home, UINT64_MAX);
  return index;
}

/* ---- waiting and holding ---- */

static void raise_to(uint64_t *at, uint64_t value) {
  uint64_t now = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (now < value && !__atomic_compare_exchange_n(at, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}

void qzi_pub_waited_most(struct qz_object *record, uint64_t wait_ns) { raise_to(&record->wait_max_ns, wait_ns); }

void qzi_pub_waited_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  struct qz_object *record = QZI_PUB_OBJECT(index);
  qzi_pub_waited_but_most(record, wait_ns, spin_ns);
  raise_to(&record->wait_max_ns, wait_ns);
}

static void add_to_bucket(uint32_t *histogram, uint64_t ns) {
  uint32_t *count = &histogram[qzi_pub_bucket(ns)];
  __atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

void qzi_pub_waits_add(uint32_t index, struct qzi_pub_waits *waits, uint64_t ns) {
  waits->count++;
  waits->ns += ns;
  if (ns > waits->max_ns) waits->max_ns = ns;
  uint32_t *histogram = QZI_PUB_OBJECT(index)->wait_hist;
  if (__builtin_expect(index & QZI_PUB_SHARED, 0))
    __atomic_fetch_add(&histogram[qzi_pub_bucket(ns)], 1, __ATOMIC_RELAXED);
  else
    add_to_bucket(histogram, ns);
}

void qzi_pub_waits_end(uint32_t index, const struct qzi_pub_waits *waits) {
  if (!waits->count) return;
  struct qz_object *record = QZI_PUB_OBJECT(index);
  qzi_pub_add(&record->contended, waits->count, index);
  qzi_pub_add(&record->wait_ns, waits->ns, index);
  if (index & QZI_PUB_SHARED)
    raise_to(&record->wait_max_ns, waits->max_ns);
  else if (waits->max_ns > record->wait_max_ns)
    qzi_pub_store(&record->wait_max_ns, waits->max_ns);
}

void qzi_pub_waited_locked_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns) {
  if (__builtin_expect(index & QZI_PUB_SHARED, 0)) {
    qzi_pub_waited_slow(index, wait_ns, spin_ns);
    return;
  }
  struct qz_object *record = &qzi_pub_objects[index];
  qzi_pub_store(&record->contended, record->contended + 1);
  qzi_pub_store(&record->wait_ns, record->wait_ns + wait_ns);
  if (spin_ns) qzi_pub_store(&record->spin_ns, record->spin_ns + spin_ns);
  add_to_bucket(record->wait_hist, wait_ns);
  if (wait_ns > record->wait_max_ns) qzi_pub_store(&record->wait_max_ns, wait_ns);
}

/* Called by the holder. If several objects share a record, the start times of their holds cannot be distinguished,
 * so such holds are not counted. */
void qzi_pub_held_slow(uint32_t index, uint64_t now_ns) {
  struct qz_object *record = QZI_PUB_OBJECT(index);
  uint64_t since = record->hold_since;
  record->hold_since = 0;
  if (index & QZI_PUB_SHARED || !since || now_ns < since) return;
  uint64_t hold_ns = now_ns - since;
  qzi_pub_store(&record->hold_ns, record->hold_ns + hold_ns);
  if (hold_ns > record->hold_max_ns) qzi_pub_store(&record->hold_max_ns, hold_ns);
  add_to_bucket(record->hold_hist, hold_ns);
}
