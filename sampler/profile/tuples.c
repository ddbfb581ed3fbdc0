/* Tuples and balance. See tuples.h. */
#include "tuples.h"

static uint32_t hash_of(const struct qzi_tuple_key *key) {
  return qzi_hash((uint64_t)key->stack << 32 | key->thread, (uint64_t)key->busy << 48 | (uint64_t)key->spinning << 32 |
                                                              (uint64_t)key->state << 28 |
                                                              (uint64_t)key->waiting << 27 | (uint64_t)key->torn << 26 |
                                                              (uint64_t)key->runnable << 8 | key->kernel);
}

static uint32_t look_up(const struct qzi_tuples *tuples, const struct qzi_tuple_key *key, uint32_t hash) {
  QZI_TABLE_EACH(&tuples->tuples, hash, at)
  if (!memcmp(&tuples->file->tuples[at - 1], key, sizeof *key)) return at;
  return 0;
}

static uint32_t find_or_make(struct qzi_tuples *tuples, const struct qzi_tuple_key *key, uint64_t limit) {
  struct qzi_file *file = tuples->file;
  uint32_t hash = hash_of(key), at = look_up(tuples, key, hash);
  if (at) return at;
  uint64_t used = qzi_file_count(file, QZ_SECTION_TUPLES);
  if (used >= limit || qzi_file_room(file, QZ_SECTION_TUPLES, 1) ||
      qzi_table_add(&tuples->tuples, hash, (uint32_t)used + 1))
    return 0;
  struct qz_tuple made = {0};
  memcpy(&made, key, sizeof *key);
  file->tuples[used] = made;
  qzi_file_append(file, QZ_SECTION_TUPLES, 1);
  return (uint32_t)used + 1;
}

uint32_t qzi_tuple_find(struct qzi_tuples *tuples, const struct qzi_tuple_key *wanted) {
  struct qzi_tuple_key key = *wanted;
  key.runnable = qzi_runnable_bucket(wanted->runnable);
  uint32_t at = look_up(tuples, &key, hash_of(&key));
  if (at) return at;
  uint64_t capacity = tuples->file->head->sections[QZ_SECTION_TUPLES].capacity;
  at = find_or_make(tuples, &key, capacity - capacity / 4);
  if (at || tuples->file->full) return at;
  tuples->file->head->tuples_merged++;
  key.runnable = wanted->runnable ? 1u << (31 - __builtin_clz(wanted->runnable)) : 0;
  if ((at = find_or_make(tuples, &key, capacity - capacity / 8))) return at;
  key.runnable = 0;
  if ((at = find_or_make(tuples, &key, capacity - capacity / 16))) return at;
  key.waiting = 0;
  key.torn = 0;
  key.kernel = 0;
  while (key.stack) {
    key.stack = tuples->file->stacks[key.stack].parent;
    if ((at = look_up(tuples, &key, hash_of(&key)))) return at;
  }
  key.thread = 0;
  return find_or_make(tuples, &key, capacity);
}

uint32_t qzi_balance_find(struct qzi_tuples *tuples, unsigned busy, unsigned spinning, uint32_t runnable) {
  struct qzi_file *file = tuples->file;
  uint64_t used = qzi_file_count(file, QZ_SECTION_BALANCE),
           capacity = file->head->sections[QZ_SECTION_BALANCE].capacity;
  /* From half the capacity on, r is ignored; so at most P squared elements are left to add. */
  uint32_t bucket = used < capacity / 2 ? qzi_runnable_bucket(runnable) : 0;
  uint32_t hash = qzi_hash((uint64_t)busy << 32 | spinning, bucket);
  QZI_TABLE_EACH(&tuples->balance, hash, at) {
    const struct qz_balance *balance = &file->balance[at - 1];
    if (balance->busy == busy && balance->spinning == spinning && balance->runnable == bucket) return at;
  }
  if (qzi_file_room(file, QZ_SECTION_BALANCE, 1) || qzi_table_add(&tuples->balance, hash, (uint32_t)used + 1)) return 0;
  file->balance[used] = (struct qz_balance){.busy = (uint16_t)busy, .spinning = (uint16_t)spinning, .runnable = bucket};
  qzi_file_append(file, QZ_SECTION_BALANCE, 1);
  return (uint32_t)used + 1;
}

void qzi_tuples_close(struct qzi_tuples *tuples) {
  qzi_table_free(&tuples->tuples);
  qzi_table_free(&tuples->balance);
}
