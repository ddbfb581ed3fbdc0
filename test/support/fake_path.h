/* A session of which only the time path is used: its actors' chains, written as a publisher writes them
 * (publisher/path.h), by a clock that the test sets.
 */
#ifndef TEST_FAKE_PATH_H
#define TEST_FAKE_PATH_H

#include <sys/mman.h>
#include "abi/session_read.h"
#include "check.h"

enum { CRUMBS = 64 };
#define STRIDE (sizeof(struct qz_path) + CRUMBS * sizeof(struct qz_crumb))

static unsigned char *memory;
static struct qz_session_view view;
static uint64_t clock_now; /* as the clock page has it */

static inline struct qz_path *actor_at(unsigned k) {
  return (struct qz_path *)(void *)(memory + view.path_table.offset + k * STRIDE);
}

static inline void make_session(uint32_t actors) {
  size_t bytes = 4096 + actors * STRIDE + 4096;
  memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  view = (struct qz_session_view){.base = memory,
                                  .bytes = bytes,
                                  .publisher = QZ_PUBLISHER_THREADLIB,
                                  .processors = actors,
                                  .crumbs_limit = CRUMBS,
                                  .path_table = {4096, STRIDE, actors, 0}};
  view.processor_table.capacity = actors;
  clock_now = 0;
}

/* The actor lets somebody go on: the number of its chain. */
static inline uint64_t hands_on(unsigned k) {
  struct qz_path *actor = actor_at(k);
  if (actor->word >= clock_now) return actor->word;
  struct qz_crumb *crumb = &actor->ring[actor->count & (CRUMBS - 1)];
  *crumb = (struct qz_crumb){QZ_CHAIN(QZ_CHAIN_TIME(clock_now), k, 0), actor->word, actor->since, actor->key};
  actor->count++;
  actor->since = clock_now;
  actor->key = 0;
  return actor->word = crumb->id;
}
/* It goes on after a wait for the object with that key (0: none), with the chain of who let it go. */
static inline void goes_on(unsigned k, uint64_t word, uint64_t key) {
  struct qz_path *actor = actor_at(k);
  actor->since = clock_now | QZ_ARRIVAL_WOKEN;
  actor->key = key;
  actor->word = word;
}

#endif
