/* A hash index: maps a hash to numbers of elements, which are stored elsewhere.
 *
 * Owns:    the slots. Writer and reader: the aggregating thread.
 * Must not: know what it indexes. The caller compares candidates itself:
 *   QZI_TABLE_EACH(table, hash, value) if (same(value)) return value;
 */
#ifndef QZI_HASH_INDEX_H
#define QZI_HASH_INDEX_H

#include <stdint.h>
#include <stdlib.h>
#include "abi/hash.h"

struct qzi_slot {
  uint32_t hash, value;
}; /* value 0: the slot is free */
struct qzi_table {
  struct qzi_slot *slots;
  uint32_t mask, used;
};

/* Visits all values stored under `hash`, and possibly others, which the caller must compare. */
#define QZI_TABLE_EACH(table, hash_, value_)                                                                 \
  for (uint32_t slot_ = (table)->slots ? ((hash_) & (table)->mask) : 0, value_;                              \
       (table)->slots && ((value_) = (table)->slots[slot_].value) != 0; slot_ = (slot_ + 1) & (table)->mask) \
    if ((table)->slots[slot_].hash == (hash_))

static inline uint32_t qzi_hash(uint64_t a, uint64_t b) {
  unsigned __int128 product =
    (unsigned __int128)(a ^ QZ_HASH_FACTOR) * (b ^ UINT64_C(0xd1b54a32d192ed03) ^ (a << 32 | a >> 32));
  uint64_t mixed = (uint64_t)product ^ (uint64_t)(product >> 64);
  mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(mixed >> 32);
}

/* Adds a value (not 0) that is not in the table yet. Returns 0, or -1 if there is no memory; then the table is
 * unchanged. */
static inline int qzi_table_add(struct qzi_table *table, uint32_t hash, uint32_t value) {
  if (!table->slots || table->used >= table->mask - table->mask / 3) {
    uint32_t mask = table->slots ? table->mask * 2 + 1 : 1023;
    if (mask <= table->mask) return -1;
    struct qzi_slot *slots = calloc((size_t)mask + 1, sizeof *slots);
    if (!slots) return -1;
    for (uint32_t k = 0; table->slots && k <= table->mask; k++) {
      if (!table->slots[k].value) continue;
      uint32_t at = table->slots[k].hash & mask;
      while (slots[at].value) at = (at + 1) & mask;
      slots[at] = table->slots[k];
    }
    free(table->slots);
    table->slots = slots;
    table->mask = mask;
  }
  uint32_t at = hash & table->mask;
  while (table->slots[at].value) at = (at + 1) & table->mask;
  table->slots[at] = (struct qzi_slot){hash, value};
  table->used++;
  return 0;
}

static inline void qzi_table_free(struct qzi_table *table) {
  free(table->slots);
  *table = (struct qzi_table){0};
}

#endif
