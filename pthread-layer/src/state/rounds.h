/* What the layer's own code takes of a thread in a parallel region that it begins: measured in one of 64 regions, since
 * most of it is waiting for cache lines that other CPUs have written, which no measurement in advance shows. The same
 * for barriers in regions, and for steps of tasks.
 *
 * Owns:    a thread's struct qzl_rounds; rounds, rounds_ns and tasks_ns of its actor. Writer: the thread. Reader: it;
 * the sampler. Must not: read a clock in the others.
 */
#ifndef QZL_ROUNDS_H
#define QZL_ROUNDS_H

#include <stdbool.h>
#include "publisher/path.h"
#include "publisher/ticks.h"

#define QZL_ROUNDS_EACH 64u    /* of so many one is measured */
#define QZL_TOOK_MOST   20000u /* ns; a longer creation or end of a thread is an interruption of it */
#define QZL_ROUNDS_MOST 64u    /* times the typical length: longer ones are interruptions of the thread */
struct qzl_rounds {
  uint32_t number, measured; /* how many have begun; of these up to and with the last one measured */
  bool is_measured;          /* the one that it is in, or was in last */
  uint64_t ticks;            /* of that one so far */
  uint64_t typical;          /* about the median, in ticks; 0: none was measured */
};

/* For each stretch of the layer's code: the time before it, which is 0 in those not measured. The first is its begin.
 */
static inline uint64_t qzl_rounds_now(const struct qzl_rounds *rounds) {
  return __builtin_expect(rounds->is_measured, 0) ? qzi_pub_ticks() : 0;
}
static inline uint64_t qzl_rounds_begin(struct qzl_rounds *rounds) {
  rounds->is_measured = rounds->number++ % QZL_ROUNDS_EACH == 0;
  return qzl_rounds_now(rounds);
}
static inline void qzl_rounds_add(struct qzl_rounds *rounds, uint64_t since) {
  if (__builtin_expect(since != 0, 0)) rounds->ticks += qzi_pub_ticks() - since;
}

#pragma GCC visibility push(hidden)
void qzl_rounds_measured(struct qzl_rounds *rounds, uint64_t *sum_ns);
void qzl_step_measured(struct qzl_rounds *steps, struct qz_path *actor, uint64_t since);
/* What a thread's creation, beginning or end has taken, of its actor or its creator's (NULL: nobody counts it); since
 * 0: nothing was published then. */
void qzl_thread_took(struct qz_path *actor, uint64_t since);
#pragma GCC visibility pop

/* It is over, for the layer. */
static inline void qzl_rounds_end(struct qzl_rounds *rounds, struct qz_path *actor, uint64_t since) {
  qzi_pub_store(&actor->rounds, actor->rounds + 1);
  qzl_rounds_add(rounds, since);
  if (__builtin_expect(rounds->ticks != 0, 0)) qzl_rounds_measured(rounds, &actor->rounds_ns);
}
/* A step of a task, of one stretch, is over. */
static inline void qzl_step_end(struct qzl_rounds *steps, struct qz_path *actor, uint64_t since) {
  if (__builtin_expect(since != 0, 0)) qzl_step_measured(steps, actor, since);
}

#endif
