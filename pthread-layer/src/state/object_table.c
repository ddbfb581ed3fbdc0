/* Synchronization objects by address.
 *
 * Owns:    the table from addresses to records, and where objects were made.
 * Writer:  any thread, under `lock`; places of objects: any thread, without. Reader: any thread, without a lock.
 * Must not: cost time or memory in proportion to the number of objects.
 *
 * Programs have objects by the million, and few of them matter. An object has a record of its own if it was waited for,
 * or is one of no more than OWN that were used of those made at its place (OWN_ALL in all). The others share
 * the aggregate record of their place, which says how often they were taken and for how long they were held, all
 * together. When a place gets its aggregate record, those with records of their own join it that nobody has waited for:
 * what is known of hundreds of locks takes more of the first cache, and more instructions, than one aggregate record.
 * To make an object stores where it was made, in a table of fixed size in which objects push out each other; to find
 * one of an aggregate record takes a look into a table that stays in the cache, and finds nothing.
 */
#include "object_table.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/private.h"

#define OWN          256u
#define OWN_ALL      4096u
#define OWN_BESIDE   32u   /* of no known place, first used where objects of an aggregate record are used */
#define WORDS        8192u /* for the kernel's futex, that have a record of their own */
#define MADE_BITS    15u   /* sets of two: the first keeps what it has, the second has the latest */

#define FORGET_LOOKS 256
#define WORD_TRIES   1000 /* for a lock that others have for some hundred instructions */

QZI_READ_OFTEN struct qzl_object *qzl_objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t used;  /* of the table, */
static uint32_t words; /* by words for the kernel's futex */
static struct made { uint64_t address, site; } * made;
uint64_t qzl_filter[1u << (QZL_FILTER_BITS - 6)];
static uint32_t removed; /* since the filter was rebuilt */
static uint8_t *joined;  /* places whose objects have joined their aggregate record: a bit for each possible record */

int qzl_objects_make(void) {
  if (!qzl_objects) qzl_objects = qzi_pub_reserve(sizeof *qzl_objects << QZL_OBJECT_BITS);
  if (!made) made = qzi_pub_reserve(2 * sizeof *made << MADE_BITS);
  return qzl_objects && made ? 0 : -1;
}
bool qzl_aggregates_make(void) {
  if (!joined) joined = qzi_pub_reserve(qzi_session.objects / 8 + 1);
  return joined != NULL;
}

/* Nothing was ever published. */
void qzl_objects_give_up(void) {
  munmap(qzl_objects, sizeof *qzl_objects << QZL_OBJECT_BITS);
  qzl_objects = NULL;
}

void qzl_objects_forked(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  qzl_generation_ends();
}

/* ---- where objects were made ---- */

/* Neighbours in memory are neighbours in the table. Two threads may write to an element at the same time: the site
 * says which address it is of. */
static struct made *made_set(uint64_t address) {
  return &made[2 * ((address >> 4 ^ address >> (4 + MADE_BITS)) & ((1u << MADE_BITS) - 1))];
}
static uint64_t mark_of(uint64_t address) { return address * QZ_HASH_FACTOR & ~(UINT64_MAX >> 16); }
static int is_of(const struct made *element, uint64_t address) {
  return __atomic_load_n(&element->address, __ATOMIC_RELAXED) == address &&
         (__atomic_load_n(&element->site, __ATOMIC_RELAXED) & ~(UINT64_MAX >> 16)) == mark_of(address);
}
static void made_at(uint64_t address, uint64_t site) {
  struct made *set = made_set(address);
  int which =
    is_of(&set[1], address) || (__atomic_load_n(&set[0].address, __ATOMIC_RELAXED) && !is_of(&set[0], address));
  qzi_pub_store(&set[which].address, address);
  qzi_pub_store(&set[which].site, (site & UINT64_MAX >> 16) | mark_of(address));
}
/* 0: not known, or no longer. */
static uint64_t where_made(uint64_t address) {
  const struct made *set = made_set(address);
  for (int k = 0; k < 2; k++)
    if (is_of(&set[k], address)) return __atomic_load_n(&set[k].site, __ATOMIC_RELAXED) & UINT64_MAX >> 16;
  return 0;
}
static void unmade(uint64_t address) {
  struct made *set = made_set(address);
  for (int k = 0; k < 2; k++)
    if (is_of(&set[k], address)) qzi_pub_store(&set[k].address, 0);
}

/* ---- records ---- */

/* The object's element, with the lock held; NULL: none. *free: where one would go, NULL: no room. */
static struct qzl_object *find(uint64_t address, struct qzl_object **free) {
  uint32_t first = qzl_first((const void *)(uintptr_t)address);
  *free = NULL;
  for (uint32_t k = 0; k < QZL_PROBES; k++) {
    struct qzl_object *object = &qzl_objects[(first + k) & ((1u << QZL_OBJECT_BITS) - 1)];
    if (object->address == address) return object;
    if (object->address <= 1 && !*free) *free = object;
    if (!object->address) break;
  }
  return NULL;
}

/* With the lock held. Each word goes over to one that has all that is there: concurrent readers miss nothing. */
static void filter_anew(void) {
  static uint64_t anew[1u << (QZL_FILTER_BITS - 6)];
  memset(anew, 0, sizeof anew);
  for (uint32_t k = 0; k < 1u << QZL_OBJECT_BITS; k++) {
    uint32_t bit = qzl_filter_bit(qzl_objects[k].address);
    if (qzl_objects[k].address > 1) anew[bit / 64] |= UINT64_C(1) << (bit & 63);
  }
  for (uint32_t k = 0; k < sizeof anew / sizeof *anew; k++) qzi_pub_store(&qzl_filter[k], anew[k]);
  removed = 0;
}

static bool was_waited_for(const struct qz_object *record) {
  return __atomic_load_n(&record->contended, __ATOMIC_RELAXED) || __atomic_load_n(&record->failed, __ATOMIC_RELAXED) ||
         __atomic_load_n(&record->queue, __ATOMIC_RELAXED);
}

/* The place has an aggregate record from now on. With the lock held. Who has one of its objects on its stack under its
 * own key goes on so. */
static void join_aggregate(uint32_t place) {
  if (!place || joined[place / 8] >> place % 8 & 1) return;
  joined[place / 8] |= (uint8_t)(1 << place % 8);
  for (uint32_t k = 0; k < 1u << QZL_OBJECT_BITS; k++) {
    struct qzl_object *object = &qzl_objects[k];
    if (object->address <= 1 || qzi_object_place(object->index) != place ||
        was_waited_for(QZI_PUB_OBJECT(object->index)))
      continue;
    qzi_pub_anonymous(object->index);
    __atomic_store_n(&object->address, 1, __ATOMIC_RELEASE);
    used--;
  }
  filter_anew();
  qzl_generation_ends();
}

/* It is no longer in the table; the caller gives back its record. With the lock held. */
static struct qzi_pub_object take_out(struct qzl_object *found) {
  struct qzi_pub_object object = {.index = found->index};
  words -= qzl_is_word(found->address);
  /* Nothing was put behind it: a search may end here. */
  const struct qzl_object *next = &qzl_objects[(size_t)(found - qzl_objects + 1) & ((1u << QZL_OBJECT_BITS) - 1)];
  __atomic_store_n(&found->address, next->address == 0 ? 0 : 1, __ATOMIC_RELEASE);
  used--;
  if (++removed == 1u << (QZL_FILTER_BITS - 4)) filter_anew();
  return object;
}

/* Nobody says when a word is used no more: one that has no waiters makes room. With the lock held. */
static void forget_word(void) {
  static uint32_t hand;
  for (int k = 0; k < FORGET_LOOKS; k++) {
    struct qzl_object *object = &qzl_objects[hand++ & ((1u << QZL_OBJECT_BITS) - 1)];
    if (!qzl_is_word(object->address) || __atomic_load_n(&QZI_PUB_OBJECT(object->index)->queue, __ATOMIC_RELAXED))
      continue;
    struct qzi_pub_object gone = take_out(object);
    qzi_pub_destroyed(&gone);
    return;
  }
}

/* Takes the lock, unless the calling thread has it, or that of the records, because a signal interrupted it there. */
static bool lock_word(uint64_t at) {
  int tries = 0;
  while (pthread_mutex_trylock(&lock))
    if (++tries == WORD_TRIES) return false;
  struct qzl_object *free;
  if (!qzi_objects_free()) {
    pthread_mutex_unlock(&lock);
    return false;
  }
  if (words >= WORDS && !find(at, &free)) forget_word();
  return true;
}

/* most: records that the place may have for objects of their own, if none of them is free. */
static uint32_t insert(const void *address, unsigned kind, uint64_t site, uint32_t capacity, uint32_t most) {
  if (!qzl_objects || !qzi_publishing() || !qzi_pub_objects) return 0;
  uint64_t at = (uint64_t)(uintptr_t)address, place = where_made(at);
  struct qzi_pub_object object = {.site = place ? place : site};
  struct qzl_object *free, *found;
  bool some_free;
  if (kind != QZ_KIND_FUTEX)
    pthread_mutex_lock(&lock);
  else if (!lock_word(at))
    return 0;
  if ((found = find(at, &free))) {
    object.index = found->index;
  } else if (free && used < (1u << QZL_OBJECT_BITS) / 4 * 3 && (most == UINT32_MAX || used < OWN_ALL) &&
             (qzi_pub_members(kind, object.site, &some_free) < most || some_free)) {
    const void *there = kind == QZ_KIND_FUTEX ? (const char *)address - QZL_WORD : address;
    qzi_pub_register(&object, kind, there, object.site, capacity);
    if (!(object.index & QZI_PUB_SHARED)) {
      used++;
      words += kind == QZ_KIND_FUTEX;
      uint32_t bit = qzl_filter_bit(at);
      qzi_pub_store(&qzl_filter[bit / 64], qzl_filter[bit / 64] | UINT64_C(1) << (bit & 63));
      __atomic_store_n(&free->index, object.index, __ATOMIC_RELAXED);
      __atomic_store_n(&free->address, at, __ATOMIC_RELEASE);
    }
  } else {
    object.index = qzi_pub_aggregate(kind, object.site);
    __atomic_fetch_or(&qzl_generation, QZL_AGGREGATES, __ATOMIC_RELEASE);
    join_aggregate(qzi_pub_place(kind, object.site));
    if (qzi_pub_members(kind, site, &some_free) > OWN_BESIDE) join_aggregate(qzi_pub_place(kind, site));
  }
  pthread_mutex_unlock(&lock);
  return object.index;
}

struct qzl_object *qzl_calibrate_place(const void *address) {
  struct qzl_object *free = NULL;
  if (!qzl_objects || find((uint64_t)(uintptr_t)address, &free) || !free) return NULL;
  free->index = 1;
  free->address = (uint64_t)(uintptr_t)address;
  return free;
}

uint32_t qzl_word(const void *word, uint64_t site) {
  uint32_t index = qzl_known_word(word);
  return index ? index : insert((const char *)word + QZL_WORD, QZ_KIND_FUTEX, site, 0, UINT32_MAX);
}

uint32_t qzl_own(const void *address, unsigned kind, uint64_t site, uint32_t capacity) {
  uint32_t index = qzl_known(address);
  return index ? index : insert(address, kind, site, capacity, UINT32_MAX);
}

/* A place that has locked one of an aggregate record is taken to lock others of it: no look at where each of them was
 * made. */
uint32_t qzl_index_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  struct qzi_pub_site_slot *slot = &me->sites[site >> 2 & (QZI_PUB_SITES - 1)];
  if (__builtin_expect(slot->site == site && slot->kind == kind, 1)) return slot->index;
  uint32_t index = insert(address, kind, site, 0, OWN);
  if (index & QZI_PUB_SHARED) *slot = (struct qzi_pub_site_slot){.site = site, .kind = kind, .index = index};
  return index;
}

void qzl_destroyed(const void *address) {
  if (!qzl_objects) return;
  unmade((uint64_t)(uintptr_t)address);
  if (qzl_in_aggregate(address) || !qzl_known(address)) return;
  struct qzl_object *free, *found;
  struct qzi_pub_object object = {0};
  pthread_mutex_lock(&lock);
  if ((found = find((uint64_t)(uintptr_t)address, &free))) {
    object = take_out(found);
    qzl_generation_ends();
  }
  pthread_mutex_unlock(&lock);
  qzi_pub_destroyed(&object);
}

void qzl_initialized(const void *address, uint64_t site) {
  if (!qzi_publishing() || !qzl_objects) return;
  if (!qzl_in_aggregate(address) && qzl_known(address))
    qzl_destroyed(address); /* memory that was given back without saying so */
  made_at((uint64_t)(uintptr_t)address, site);
}
