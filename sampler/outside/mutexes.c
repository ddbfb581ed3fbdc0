/* See mutexes.h. */
#include "mutexes.h"

#include <string.h>
#include "sampler/linux/process_memory.h"
#include "state.h"

#define COOL_NS UINT64_C(100000000) /* nobody waited for so long: its owner is not read any more */

/* What glibc keeps in a mutex, as far as it is the same in all its versions (struct __pthread_mutex_s, 64 bit). */
struct glibc_mutex {
  int32_t lock;
  uint32_t count;
  int32_t owner; /* thread id; 0: nobody's */
  uint32_t users;
  int32_t kind;
};
#define KINDS 0x3ff /* bits of `kind`: types, robust, priorities, shared, elision */

/* Record of the owner, index + 1; 0: nobody, or nobody of this program; -1: that is no mutex. */
static int64_t owner_of(const struct qzi_outside *outside, uint64_t address) {
  struct glibc_mutex its;
  if (qzi_program_read((uint32_t)outside->pid, address, &its, sizeof its)) return -1;
  if (its.kind < 0 || its.kind > KINDS || its.owner < 0 || (uint32_t)its.owner >= QZI_OUTSIDE_TIDS) return -1;
  return outside->record_of[its.owner];
}

/* ---- what stands on a thread's stack ---- */

static struct qz_entry *entries_of(struct qz_thread *thread) {
  return (struct qz_entry *)(void *)((unsigned char *)thread + offsetof(struct qz_thread, stack));
}
static void set_depth(struct qz_thread *thread, uint32_t depth) {
  uint64_t changes = (thread->word / QZ_WORD_CHANGE + 1) * QZ_WORD_CHANGE;
  __atomic_store_n(&thread->word, changes | (QZ_WORD_EMPTY + depth * (uint32_t)sizeof(struct qz_entry)),
                   __ATOMIC_RELEASE);
}

static void push(const struct qzi_outside *outside, uint32_t index, uint64_t key) {
  struct qz_thread *thread = qzi_outside_record(outside, index);
  uint32_t depth = QZ_WORD_DEPTH(thread->word);
  if (depth >= outside->head->stack_limit) {
    thread->overflows++;
    return;
  }
  entries_of(thread)[depth].key = key;
  set_depth(thread, depth + 1);
}

static void pull(const struct qzi_outside *outside, uint32_t index, uint64_t key) {
  struct qz_thread *thread = qzi_outside_record(outside, index);
  struct qz_entry *entries = entries_of(thread);
  uint32_t depth = QZ_WORD_DEPTH(thread->word), at = depth;
  while (at > 0 && entries[at - 1].key != key) at--;
  if (!at) return;
  memmove(&entries[at - 1], &entries[at], (depth - at) * sizeof *entries);
  set_depth(thread, depth - 1);
}

/* The mutex has that holder now: index + 1, 0: none. */
static void give(const struct qzi_outside *outside, struct qzi_outside_mutex *mutex, uint32_t holder) {
  uint64_t key = QZ_KEY(QZ_KIND_MUTEX, mutex->object),
           serial = holder ? qzi_outside_record(outside, holder - 1)->serial : 0;
  if (mutex->holder == holder && mutex->holder_serial == serial) return;
  if (mutex->holder && qzi_outside_record(outside, mutex->holder - 1)->serial == mutex->holder_serial)
    pull(outside, mutex->holder - 1, key);
  if (holder) push(outside, holder - 1, key);
  mutex->holder = holder;
  mutex->holder_serial = serial;
}

/* ---- mutexes ---- */

static struct qzi_outside_mutex *hot_of(struct qzi_outside *outside, uint32_t object) {
  for (uint32_t k = 0; k < outside->hot_count; k++)
    if (outside->hot[k].object == object) return &outside->hot[k];
  return NULL;
}

static void look_at_owner(const struct qzi_outside *outside, struct qzi_outside_mutex *mutex) {
  int64_t owner = owner_of(outside, qzi_outside_object(outside, mutex->object)->address);
  give(outside, mutex, owner > 0 ? (uint32_t)owner : 0);
}

static uint32_t find(const struct qzi_outside *outside, uint64_t address) {
  QZI_TABLE_EACH(&outside->mutexes, qzi_hash(address, 0), object)
  if (qzi_outside_object(outside, object)->address == address) return object;
  return 0;
}

/* Its owner is read from now on. NULL: that of too many others is. */
static struct qzi_outside_mutex *heat(struct qzi_outside *outside, uint32_t object, uint64_t now_ns) {
  struct qzi_outside_mutex *mutex = hot_of(outside, object);
  if (!mutex && outside->hot_count == QZI_OUTSIDE_HOT) return NULL;
  if (!mutex) {
    mutex = &outside->hot[outside->hot_count++];
    *mutex = (struct qzi_outside_mutex){.object = object};
    look_at_owner(outside, mutex);
  }
  mutex->waited_ns = now_ns;
  return mutex;
}

uint32_t qzi_outside_mutex(struct qzi_outside *outside, uint64_t address, uint64_t site, uint64_t now_ns) {
  uint32_t object = find(outside, address), next = outside->head->object_high;
  int64_t owner = owner_of(outside, address);
  if (owner < 0) return 0;
  if (!object) {
    if (!owner || next >= outside->head->object_table.capacity) return 0;
    if (qzi_table_add(&outside->mutexes, qzi_hash(address, 0), next)) return 0;
    struct qz_object *its = qzi_outside_object(outside, next);
    its->site = site;
    its->address = its->home = address;
    its->instances = 1;
    __atomic_store_n(&its->kind, QZ_KIND_MUTEX, __ATOMIC_RELEASE);
    __atomic_store_n(&outside->head->object_high, next + 1, __ATOMIC_RELEASE);
    object = next;
  }
  heat(outside, object, now_ns);
  return object;
}

void qzi_outside_waits(struct qzi_outside *outside, uint32_t object, uint64_t now_ns) {
  if (heat(outside, object, now_ns)) qzi_outside_object(outside, object)->queue++;
}

void qzi_outside_waited(struct qzi_outside *outside, uint64_t ns) {
  for (uint32_t k = 0; k < outside->hot_count; k++) {
    struct qz_object *object = qzi_outside_object(outside, outside->hot[k].object);
    object->wait_ns += object->queue * ns;
  }
}

void qzi_outside_owners(struct qzi_outside *outside, uint64_t now_ns) {
  for (uint32_t k = outside->hot_count; k-- > 0;) {
    struct qzi_outside_mutex *mutex = &outside->hot[k];
    qzi_outside_object(outside, mutex->object)->queue = 0;
    if (now_ns - mutex->waited_ns < COOL_NS) {
      look_at_owner(outside, mutex);
      continue;
    }
    give(outside, mutex, 0);
    outside->hot[k] = outside->hot[--outside->hot_count];
  }
}
