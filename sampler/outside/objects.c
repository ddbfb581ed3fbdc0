/* See objects.h. */
#include "objects.h"

#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include "sampler/linux/process_memory.h"
#include "state.h"

#define COOL_NS     UINT64_C(100000000) /* after this time without waiters, the owner is no longer read */
#define LOOKS_LEAST 16u                 /* number of readings of the owner before its holding time is judged */
#define BRIEF       4u                  /* held briefly if one in this many readings finds a new owner */

/* ---- layout of glibc's objects ---- */

/* The part of a mutex that is the same in all versions (struct __pthread_mutex_s, 64 bit). */
struct glibc_mutex {
  int32_t lock;
  uint32_t count;
  int32_t owner; /* thread ID; 0 if there is no owner */
  uint32_t users;
  int32_t kind;
};
#define KINDS 0x3ff /* bits of `kind`: types, robust, priorities, shared, elision */

/* Of a read-write lock (struct __pthread_rwlock_arch_t). */
struct glibc_rwlock {
  uint32_t readers, writers, phase, queue, pads[2];
  int32_t writer; /* thread ID; 0 if it is not locked for writing */
};

/* The address of the object, from that of its futex: in a read-write lock the phase or the queue, in a condition one
 * of two words (at lower offsets from version 2.41 on), in a barrier the round. */
static uint64_t begin_of(uint32_t kind, uint64_t futex) {
  static int minor;
  if (!minor) minor = (int)strtol(strchr(gnu_get_libc_version(), '.') + 1, NULL, 10);
  switch (kind) {
  case QZ_KIND_RWLOCK: return (futex & ~UINT64_C(7)) - 8;
  case QZ_KIND_CONDITION: return (futex & ~UINT64_C(7)) - (minor > 40 ? 32 : 40);
  case QZ_KIND_BARRIER: return futex - 4;
  default: return futex;
  }
}

/* The thread's record, index + 1; 0 if there is no thread, or none of this program; -1 if the value is no thread ID. */
static int64_t record_of(const struct qzi_outside *outside, int64_t tid) {
  return tid < 0 || tid >= QZI_OUTSIDE_TIDS ? -1 : (int64_t)outside->record_of[tid];
}

/* Like record_of, for the current owner of the object; -1 if this is no such object. */
static int64_t owner_of(const struct qzi_outside *outside, uint32_t kind, uint64_t address) {
  uint32_t pid = (uint32_t)outside->pid;
  struct glibc_mutex mutex;
  struct glibc_rwlock lock;
  switch (kind) {
  case QZ_KIND_MUTEX:
    if (qzi_program_read(pid, address, &mutex, sizeof mutex) || mutex.kind < 0 || mutex.kind > KINDS) return -1;
    return record_of(outside, mutex.owner);
  case QZ_KIND_RWLOCK: return qzi_program_read(pid, address, &lock, sizeof lock) ? -1 : record_of(outside, lock.writer);
  default: return 0;
  }
}

/* ---- entries of a thread's stack ---- */

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

/* Records the lock's current holder: index + 1, 0 if none. */
static void give(const struct qzi_outside *outside, struct qzi_outside_lock *lock, uint32_t holder) {
  uint64_t key = QZ_KEY(qzi_outside_object_at(outside, lock->object)->kind, lock->object),
           serial = holder ? qzi_outside_record(outside, holder - 1)->serial : 0;
  if (lock->holder == holder && lock->holder_serial == serial) return;
  if (lock->holder && qzi_outside_record(outside, lock->holder - 1)->serial == lock->holder_serial)
    pull(outside, lock->holder - 1, key);
  if (holder) push(outside, holder - 1, key);
  lock->holder = holder;
  lock->holder_serial = serial;
}

static struct qzi_outside_lock *hot_of(struct qzi_outside *outside, uint32_t object) {
  for (uint32_t k = 0; k < outside->hot_count; k++)
    if (outside->hot[k].object == object) return &outside->hot[k];
  return NULL;
}

static void look_at_owner(const struct qzi_outside *outside, struct qzi_outside_lock *lock) {
  const struct qz_object *object = qzi_outside_object_at(outside, lock->object);
  if (!qz_kind_is_lock(object->kind)) return;
  int64_t owner = owner_of(outside, object->kind, object->address);
  uint32_t before = lock->holder;
  give(outside, lock, owner > 0 ? (uint32_t)owner : 0);
  lock->looks++;
  lock->changes += lock->holder != before;
}

int qzi_outside_is_brief(const struct qzi_outside *outside, uint32_t object) {
  for (uint32_t k = 0; k < outside->hot_count; k++)
    if (outside->hot[k].object == object)
      return outside->hot[k].looks >= LOOKS_LEAST && outside->hot[k].changes * BRIEF >= outside->hot[k].looks;
  return 0;
}

/* ---- objects ---- */

static int has(const char *name, const char *word) { return strstr(name, word) != NULL; }

static uint32_t kind_of(const char *called) {
  if (has(called, "pthread_mutex_")) return QZ_KIND_MUTEX;
  if (has(called, "pthread_cond_") && has(called, "wait")) return QZ_KIND_CONDITION;
  if (has(called, "pthread_rwlock_")) return QZ_KIND_RWLOCK;
  if (has(called, "pthread_barrier_wait")) return QZ_KIND_BARRIER;
  if (has(called, "pthread_") && has(called, "join")) return QZ_KIND_JOIN;
  return has(called, "sem_wait") || has(called, "sem_timedwait") || has(called, "sem_clockwait") ? QZ_KIND_SEMAPHORE
                                                                                                 : 0;
}

/* Joins are one object per call site; other objects are identified by their address. `key` is either. */
static uint32_t find(const struct qzi_outside *outside, uint32_t kind, uint64_t key) {
  QZI_TABLE_EACH(&outside->objects, qzi_hash(key, kind), index) {
    const struct qz_object *its = qzi_outside_object_at(outside, index);
    if (its->kind == kind && (kind == QZ_KIND_JOIN ? its->site : its->address) == key) return index;
  }
  return 0;
}

static uint32_t make(struct qzi_outside *outside, uint32_t kind, uint64_t key, uint64_t site) {
  uint32_t index = outside->head->object_high;
  if (index >= outside->head->object_table.capacity || qzi_table_add(&outside->objects, qzi_hash(key, kind), index))
    return 0;
  struct qz_object *its = qzi_outside_object_at(outside, index);
  its->site = site;
  if (kind != QZ_KIND_JOIN) its->address = its->home = key;
  its->instances = 1;
  __atomic_store_n(&its->kind, kind, __ATOMIC_RELEASE);
  __atomic_store_n(&outside->head->object_high, index + 1, __ATOMIC_RELEASE);
  return index;
}

/* From now on its owner is read in each snapshot. NULL if there are too many such objects. */
static struct qzi_outside_lock *heat(struct qzi_outside *outside, uint32_t object, uint64_t now_ns) {
  struct qzi_outside_lock *lock = hot_of(outside, object);
  if (!lock && outside->hot_count == QZI_OUTSIDE_HOT) return NULL;
  if (!lock) {
    lock = &outside->hot[outside->hot_count++];
    *lock = (struct qzi_outside_lock){.object = object};
    look_at_owner(outside, lock);
  }
  lock->waited_ns = now_ns;
  return lock;
}

uint32_t qzi_outside_known(const struct qzi_outside *outside, uint64_t address, uint32_t *kind) {
  static const uint8_t kinds[] = {QZ_KIND_MUTEX, QZ_KIND_CONDITION, QZ_KIND_RWLOCK, QZ_KIND_BARRIER, QZ_KIND_SEMAPHORE};
  for (unsigned k = 0; k < sizeof kinds; k++) {
    uint32_t object = find(outside, kinds[k], begin_of(kinds[k], address));
    *kind = kinds[k];
    if (object) return object;
  }
  return 0;
}

uint32_t qzi_outside_object(struct qzi_outside *outside, const char *called, uint64_t address, uint64_t site,
                            uint64_t now_ns, uint32_t *kind) {
  int32_t joined;
  *kind = kind_of(called);
  /* A thread that has waited for a condition locks its mutex again. */
  if (*kind == QZ_KIND_CONDITION &&
      (find(outside, QZ_KIND_MUTEX, address) || owner_of(outside, QZ_KIND_MUTEX, address) > 0))
    *kind = QZ_KIND_MUTEX;
  uint64_t key = *kind == QZ_KIND_JOIN ? site : begin_of(*kind, address);
  if (!*kind || !key || owner_of(outside, *kind, key) < 0) return 0;
  uint32_t object = find(outside, *kind, key);
  if (!object) object = make(outside, *kind, key, site);
  if (!object) return 0;
  /* It waits for the thread ID to be cleared. */
  if (*kind == QZ_KIND_JOIN && !qzi_program_read((uint32_t)outside->pid, address, &joined, sizeof joined)) {
    int64_t record = record_of(outside, joined);
    qzi_outside_object_at(outside, object)->owner = record > 0 ? (uint32_t)record : 0;
  }
  heat(outside, object, now_ns);
  return object;
}

void qzi_outside_begun(const struct qzi_outside *outside, uint32_t object) {
  qzi_outside_object_at(outside, object)->contended++;
}

void qzi_outside_waits(struct qzi_outside *outside, uint32_t object, uint64_t now_ns) {
  if (heat(outside, object, now_ns)) qzi_outside_object_at(outside, object)->queue++;
}

void qzi_outside_waited(struct qzi_outside *outside, uint64_t ns) {
  for (uint32_t k = 0; k < outside->hot_count; k++) {
    struct qz_object *object = qzi_outside_object_at(outside, outside->hot[k].object);
    object->wait_ns += object->queue * ns;
  }
}

void qzi_outside_owners(struct qzi_outside *outside, uint64_t now_ns) {
  for (uint32_t k = outside->hot_count; k-- > 0;) {
    struct qzi_outside_lock *lock = &outside->hot[k];
    qzi_outside_object_at(outside, lock->object)->queue = 0;
    if (now_ns - lock->waited_ns < COOL_NS) {
      look_at_owner(outside, lock);
      continue;
    }
    give(outside, lock, 0);
    outside->hot[k] = outside->hot[--outside->hot_count];
  }
}
