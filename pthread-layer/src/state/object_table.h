/* Synchronization objects that have a record of their own, found by their addresses.
 *
 * Owns:    the table of addresses. Writer: object_table.c. Reader: every file of the layer.
 */
#ifndef QZL_OBJECT_TABLE_H
#define QZL_OBJECT_TABLE_H

#include "thread.h"
#include "abi/hash.h"

#pragma GCC visibility push(hidden)

/* A synchronization object that has a record of its own, found by its address (object_table.c). */
struct qzl_object {
  uint64_t address; /* 0: free; 1: was removed */
  uint32_t index;
  uint32_t reserved;
};
extern struct qzl_object *qzl_objects;
#define QZL_OBJECT_BITS 15
#define QZL_PROBES      16u

static inline uint32_t qzl_first(const void *address) {
  return (uint32_t)((uint64_t)(uintptr_t)address * QZ_HASH_FACTOR >> (64 - QZL_OBJECT_BITS));
}
/* Index of the object's own record; 0: it has none. */
static inline uint32_t qzl_known(const void *address) {
  struct qzl_object *all = qzl_objects;
  if (__builtin_expect(!all, 0)) return 0;
  uint32_t first = qzl_first(address);
  struct qzl_object *usual = &all[first];
  if (__builtin_expect(__atomic_load_n(&usual->address, __ATOMIC_ACQUIRE) == (uint64_t)(uintptr_t)address, 1))
    return __atomic_load_n(&usual->index, __ATOMIC_RELAXED);
  for (uint32_t k = 0; k < QZL_PROBES; k++) {
    struct qzl_object *object = &all[(first + k) & ((1u << QZL_OBJECT_BITS) - 1)];
    uint64_t at = __atomic_load_n(&object->address, __ATOMIC_ACQUIRE);
    if (at == (uint64_t)(uintptr_t)address) return __atomic_load_n(&object->index, __ATOMIC_RELAXED);
    if (!at) return 0;
  }
  return 0;
}
/* Of an aggregate record for certain: nothing with a record of its own has this bit of the filter. Neighbours in memory
 * are neighbours in the filter, which so takes little of the cache. */
#define QZL_FILTER_BITS 17
extern uint64_t qzl_filter[1u << (QZL_FILTER_BITS - 6)];
static inline uint32_t qzl_filter_bit(uint64_t address) {
  return (uint32_t)(((address >> 12) * QZ_HASH_FACTOR >> (72 - QZL_FILTER_BITS) << 8) | (address >> 4 & 255));
}
static inline bool qzl_in_aggregate(const void *address) {
  uint32_t bit = qzl_filter_bit((uint64_t)(uintptr_t)address);
  return !(__atomic_load_n(&qzl_filter[bit / 64], __ATOMIC_RELAXED) >> (bit & 63) & 1);
}
uint32_t qzl_index_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
/* Index of its record, made at first use; of one of an aggregate record, that of the place (QZI_PUB_SHARED). 0: none.
 */
static inline uint32_t qzl_index(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t index = qzl_known(address);
  return __builtin_expect(index != 0, 1) ? index : qzl_index_slow(me, address, kind, site);
}
/* Index of a record of its own, for who is about to wait for it; where there is no room, that of the place. */
uint32_t qzl_own(const void *address, unsigned kind, uint64_t site, uint32_t capacity);
/* A word on which threads wait by the kernel's futex: its address is a multiple of four, and stands in the table with
 * this added, because the same memory may be another object before and afterwards, without a call that says so. */
#define QZL_WORD 2u
static inline bool qzl_is_word(uint64_t address) { return address & QZL_WORD; }
static inline uint32_t qzl_known_word(const void *word) { return qzl_known((const char *)word + QZL_WORD); }
/* Its record, as qzl_own; 0 also where the calling thread was interrupted by a signal while it has a lock for that. Any
 * thread, any signal handler. */
uint32_t qzl_word(const void *word, uint64_t site);
/* The object is made, or made again, at this place; the object is destroyed. */
void qzl_initialized(const void *address, uint64_t site);
void qzl_destroyed(const void *address);
int qzl_objects_make(void);
/* When it is known how many objects the session has records for. false: no memory. */
bool qzl_aggregates_make(void);
void qzl_objects_give_up(void);
/* For calibrate.c: an element that gives the object some index; the caller clears it. */
struct qzl_object *qzl_calibrate_place(const void *address);
void qzl_objects_forked(void);

/* Changes when publishing begins and ends, and when a record gets free: what is known of places and locks is known no
 * more. Bit 0: there are aggregate records. Otherwise never 0. */
extern uint32_t qzl_generation;
#define QZL_AGGREGATES 1u
static inline void qzl_generation_ends(void) {
  if (!(__atomic_add_fetch(&qzl_generation, 2, __ATOMIC_RELEASE) & ~QZL_AGGREGATES))
    __atomic_add_fetch(&qzl_generation, 2, __ATOMIC_RELEASE);
}

#pragma GCC visibility pop
#endif
