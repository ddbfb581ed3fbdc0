/* Sums of equal observations: tuples, and the balance of all processors.
 *
 * Owns:    the sections TUPLES and BALANCE and the tables to find their elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: look at the session. Finding and adding are separate, so that room for a whole snapshot is found first, and
 * then adding can't fail.
 */
#ifndef QZI_TUPLES_H
#define QZI_TUPLES_H

#include <stddef.h>
#include <string.h>
#include "file.h"
#include "sampler/util/hash_index.h"

struct qzi_tuples {
  struct qzi_file *file;
  struct qzi_table tuples, balance;
};

/* The members by which tuples are distinguished, laid out as the beginning of struct qz_tuple, so that they can be
 * compared at once. */
struct qzi_tuple_key {
  uint32_t stack, thread;
  uint8_t state, waiting, torn, kernel;
  uint16_t busy, spinning;
  uint32_t runnable; /* number of runnable threads; rounded when the table is nearly full */
};
_Static_assert(sizeof(struct qzi_tuple_key) == 20 &&
                 offsetof(struct qzi_tuple_key, state) == offsetof(struct qz_tuple, state) &&
                 offsetof(struct qzi_tuple_key, busy) == offsetof(struct qz_tuple, busy) &&
                 offsetof(struct qzi_tuple_key, runnable) == offsetof(struct qz_tuple, runnable),
               "the key is the beginning of a tuple");

static inline int qzi_tuple_same(const struct qzi_tuple_key *a, const struct qzi_tuple_key *b) {
  return !memcmp(a, b, sizeof *a);
}

/* r, or the lower bound of its bucket. */
static inline uint32_t qzi_runnable_bucket(uint32_t runnable) {
  if (runnable <= QZ_RUNNABLE_EXACT) return runnable;
  unsigned width = 31 - (unsigned)__builtin_clz(runnable) - (unsigned)__builtin_ctz(QZ_RUNNABLE_PARTS);
  return runnable >> width << width;
}

/* Index + 1 of the tuple for the key, which is added if necessary; 0: no room. When the table is nearly full, r is
 * rounded down to a power of two, then ignored, then the stack is shortened (head->tuples_merged). */
uint32_t qzi_tuple_find(struct qzi_tuples *tuples, const struct qzi_tuple_key *key);
/* Index + 1 of the element for b, s and r; 0: no room. */
uint32_t qzi_balance_find(struct qzi_tuples *tuples, unsigned busy, unsigned spinning, uint32_t runnable);

static inline void qzi_tuple_add(struct qzi_tuples *tuples, uint32_t index_plus_1, uint32_t runnable, uint64_t ns) {
  struct qz_tuple *tuple = &tuples->file->tuples[index_plus_1 - 1];
  tuple->count++;
  tuple->ns += ns;
  tuple->runnable_ns += runnable * ns;
}

void qzi_tuples_close(struct qzi_tuples *tuples);

#endif
