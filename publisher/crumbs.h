/* Crumbs of the time path (path.h, which says what they are): when one is due, and what an actor goes on with.
 *
 * Owns:    writing of crumbs. Writer: an actor's record, as path.h says. Reader: the sampler.
 */
#ifndef QZI_PUBLISH_CRUMBS_H
#define QZI_PUBLISH_CRUMBS_H

#include "base.h"

/* The sampler's clock page, or a page with time 0, with which no crumb is ever due. Never unmapped. */
extern const struct qz_clock_page *qzi_path_clock __attribute__((visibility("hidden")));

uint64_t qzi_path_crumb(struct qz_path *actor);
/* Writes a crumb into the actor's ring and returns its name; 0: there is no room, which is counted. */
uint64_t qzi_path_write(struct qz_path *actor, uint64_t index, uint64_t prev, uint64_t since, uint64_t key);

static inline uint64_t qzi_path_time(void) { return __atomic_load_n(&qzi_path_clock->now, __ATOMIC_RELAXED); }

/* Returns the actor's chain, after writing its crumb if one is due. */
static inline __attribute__((always_inline)) uint64_t qzi_path_now(struct qz_path *actor) {
  uint64_t word = actor->word;
  return __builtin_expect(word >= qzi_path_time(), 1) ? word : qzi_path_crumb(actor);
}

/* The actor continues at `time` with t, whose record is `record`. */
static inline __attribute__((always_inline)) void qzi_path_go_on_at(struct qz_path *actor, uint64_t time,
                                                                    const struct qzi_pub_thread *t,
                                                                    const struct qz_thread *record) {
  uint64_t chain = __atomic_load_n(&t->chain, __ATOMIC_RELAXED);
  actor->since = time | QZ_CHAIN_ARRIVAL(chain);
  actor->key = record ? ((const struct qz_entry *)((const char *)&record->word + qzi_pub_top(record)))->key : 0;
  __atomic_store_n(&actor->word, chain & ~UINT64_C(15), __ATOMIC_RELAXED);
}
/* The actor continues with t, which has its record. */
static inline __attribute__((always_inline)) void qzi_path_go_on(struct qz_path *actor,
                                                                 const struct qzi_pub_thread *t) {
  qzi_path_go_on_at(actor, qzi_path_time(), t, t->record);
}
/* The actor leaves `from`, which keeps its own chain, for `to`: one look at the time serves both. Both have a record.
 */
static inline __attribute__((always_inline)) void qzi_path_turn(struct qz_path *actor, struct qzi_pub_thread *from,
                                                                const struct qzi_pub_thread *to) {
  uint64_t word = actor->word, time = qzi_path_time();
  if (__builtin_expect(word < time, 0)) {
    word = qzi_path_crumb(actor);
    time = qzi_path_time();
  }
  __atomic_store_n(&from->chain, word | QZ_ARRIVAL_OWN, __ATOMIC_RELAXED);
  const struct qz_thread *record = to->record;
  if (!record) __builtin_unreachable();
  qzi_path_go_on_at(actor, time, to, record);
}

#endif
