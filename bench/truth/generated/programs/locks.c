/* Components in which threads exclude each other: a mutex, a read-write lock, and counters in one cache line. */
#include <pthread.h>
#include <stddef.h>
#include "crew.h"

/* Each thread's lock has a cache line of its own. */
struct own_mutex {
  _Alignas(LINE_BYTES) pthread_mutex_t lock;
};
struct own_rwlock {
  _Alignas(LINE_BYTES) pthread_rwlock_t lock;
};

/* lock: n entries, priced in a us, booked in b us with the ledger's lock. fix: a ledger for each thread. */
static struct own_mutex ledger_lock[MAX_THREADS];
WORK(price_entry)
WORK(book_entry)
__attribute__((noipa)) static void post_entry(const struct spec *spec, pthread_mutex_t *lock) {
  price_entry(spec->a);
  pthread_mutex_lock(lock);
  book_entry(spec->b);
  pthread_mutex_unlock(lock);
}
static void *clerk(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  for (long k = 0; k < spec->count / spec->threads; k++)
    post_entry(spec, &ledger_lock[spec->fix ? self->index : 0].lock);
  return NULL;
}
static void run_lock(const struct spec *spec) {
  for (int k = 0; k < MAX_THREADS; k++) pthread_mutex_init(&ledger_lock[k].lock, NULL);
  run_crew(spec, spec->threads, clerk);
}

/* rwlock: n matches, ranked in a us, found in b us with the index's lock; each c-th one is inserted. fix: an index for
 * each thread. */
static struct own_rwlock index_lock[MAX_THREADS];
WORK(rank_match)
WORK(find_match)
WORK(insert_match)
__attribute__((noipa)) static void search_index(const struct spec *spec, pthread_rwlock_t *lock, int inserts) {
  rank_match(spec->a);
  if (inserts) {
    pthread_rwlock_wrlock(lock);
    insert_match(spec->b);
  } else {
    pthread_rwlock_rdlock(lock);
    find_match(spec->b);
  }
  pthread_rwlock_unlock(lock);
}
static void *searcher(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  for (long k = 0; k < spec->count / spec->threads; k++)
    search_index(spec, &index_lock[spec->fix ? self->index : 0].lock, k % spec->size == 0);
  return NULL;
}
static void run_rwlock(const struct spec *spec) {
  for (int k = 0; k < MAX_THREADS; k++) pthread_rwlock_init(&index_lock[k].lock, NULL);
  run_crew(spec, spec->threads, searcher);
}

/* share: n words, counted by each thread in a counter beside those of the others. fix: in a line of its own. */
static volatile uint64_t word_counts[MAX_THREADS * LINE_BYTES / sizeof(uint64_t)] __attribute__((aligned(LINE_BYTES)));
__attribute__((noipa)) static void count_words(long words, volatile uint64_t *count, long size) {
  uint64_t x = 1;
  for (long k = 0; k < words; k++) {
    for (long left = size; left > 0; left--) x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + 1;
    *count += x & 1;
  }
}
static void *counter(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  int apart = spec->fix ? LINE_BYTES / (int)sizeof(uint64_t) : 1;
  count_words(spec->count / spec->threads, &word_counts[self->index * apart], spec->size);
  return NULL;
}
static void run_share(const struct spec *spec) { run_crew(spec, spec->threads, counter); }

const struct component lock_components[] = {
  {"lock", run_lock}, {"rwlock", run_rwlock}, {"share", run_share}, {NULL, NULL}};
