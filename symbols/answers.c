/* Answers that were given, by address and use. See store.h. */
#include <stdlib.h>
#include "store.h"
#include "abi/hash.h"

static size_t bucket_of(const qz_symbols *symbols, uint64_t address, unsigned use) {
  return (size_t)((address * 4 + use) * QZ_HASH_FACTOR >> 32) & (symbols->bucket_count - 1);
}

static void grow_buckets(qz_symbols *symbols) {
  size_t old_count = symbols->bucket_count;
  struct answer **old = symbols->buckets, **grown = calloc(old_count * 2, sizeof *grown);
  if (!grown) return;
  symbols->buckets = grown;
  symbols->bucket_count = old_count * 2;
  for (size_t k = 0; k < old_count; k++)
    for (struct answer *answer = old[k], *next; answer; answer = next) {
      next = answer->next;
      size_t bucket = bucket_of(symbols, answer->address, answer->use);
      answer->next = grown[bucket];
      grown[bucket] = answer;
    }
  free(old);
}

struct answer *qzi_answer_known(const qz_symbols *symbols, uint64_t address, unsigned use) {
  struct answer *answer = symbols->buckets[bucket_of(symbols, address, use)];
  while (answer && (answer->address != address || answer->use != use)) answer = answer->next;
  return answer;
}

void qzi_answer_keep(qz_symbols *symbols, uint64_t address, unsigned use, enum qz_symbol_status status,
                     const struct qz_symbol *symbol) {
  struct answer *answer = qzi_arena_get(&symbols->arena, sizeof *answer);
  size_t bucket = bucket_of(symbols, address, use);
  if (!answer) return;
  *answer = (struct answer){address, use, status, *symbol, symbols->buckets[bucket]};
  symbols->buckets[bucket] = answer;
  if (++symbols->answer_count > symbols->bucket_count) grow_buckets(symbols);
}
