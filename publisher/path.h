/* The time path: who let whom go on (docs/reference/path.md).
 *
 * Owns:    the rules by which chains go from thread to thread; writing of crumbs.
 * Writer:  an actor's record (abi/chains.h, struct qz_path): the kernel thread that is the processor, or the thread of
 *          the pthread layer. A thread's word (qzi_pub_thread.chain): whoever runs or holds the thread.
 * Reader:  the sampler. Nothing is read back from the session but what its writer wrote.
 * Must not: be called while nothing is published; look at a clock (but for the page that the sampler keeps).
 *
 * A chain is one word, the name of its last crumb. Whoever lets another go on hands it a copy. Before that, and before
 * a thread gives up its processor, it looks whether a snapshot has been taken since that crumb; if so, the strand that
 * is about to end is the one that was seen in it: it writes the next crumb. So there is at most about one for each
 * snapshot and each thread that was running in it, however many hand-overs there are. Source: Oyama, Taura, Yonezawa,
 * "Online computation of critical paths for multithreaded languages" (which carries lengths and strands; that crumbs at
 * the rate of snapshots stand for the strands is ours).
 */
#ifndef QZI_PUBLISH_PATH_H
#define QZI_PUBLISH_PATH_H

#ifndef QZI_PUBLISHER_H
#error "include publisher.h"
#endif

/* The sampler's clock page, or a page that says 0: then no crumb is ever due. Never unmapped. */
extern const struct qz_clock_page *qzi_path_clock __attribute__((visibility("hidden")));

uint64_t qzi_path_crumb(struct qz_path *actor);
/* Writes a crumb into the actor's ring; its name, or 0: there is no room, which is counted. */
uint64_t qzi_path_write(struct qz_path *actor, uint64_t index, uint64_t prev, uint64_t since, uint64_t key);

static inline uint64_t qzi_path_time(void) { return __atomic_load_n(&qzi_path_clock->now, __ATOMIC_RELAXED); }

/* The chain that the actor is on, its crumb written if one is due. */
static inline __attribute__((always_inline)) uint64_t qzi_path_now(struct qz_path *actor) {
  uint64_t word = actor->word;
  return __builtin_expect(word >= qzi_path_time(), 1) ? word : qzi_path_crumb(actor);
}

/* The actor goes on with t, which has its record. */
static inline __attribute__((always_inline)) void qzi_path_go_on(struct qz_path *actor,
                                                                 const struct qzi_pub_thread *t) {
  const struct qz_thread *record = t->record;
  uint64_t chain = __atomic_load_n(&t->chain, __ATOMIC_RELAXED);
  actor->since = qzi_path_time() | QZ_CHAIN_ARRIVAL(chain);
  actor->key = record ? ((const struct qz_entry *)((const char *)&record->word + qzi_pub_top(record)))->key : 0;
  __atomic_store_n(&actor->word, chain & ~UINT64_C(15), __ATOMIC_RELAXED);
}

/* Without: what a test compares with, which counts instructions while nothing is published. */
#ifdef QZI_WITHOUT_CHAINS
#define qzi_path_give(p, to, arrival) ((void)(p), (void)(to))
#define qzi_path_take(p, t)           ((void)(p), (void)(t))
#else
/* The caller's processor hands its chain to a thread that it holds. */
static inline __attribute__((always_inline)) void qzi_path_give(struct qzi_publisher *p, struct qzi_pub_thread *to,
                                                                enum qz_arrival arrival) {
  if (__builtin_expect(p->path != NULL, 1))
    __atomic_store_n(&to->chain, qzi_path_now(p->path) | arrival, __ATOMIC_RELAXED);
  else
    qzi_span_give(p, to, arrival);
}

/* p goes on with t, which has its record. */
static inline __attribute__((always_inline)) void qzi_path_take(struct qzi_publisher *p,
                                                                const struct qzi_pub_thread *t) {
  if (__builtin_expect(p->path != NULL, 1))
    qzi_path_go_on(p->path, t);
  else
    qzi_span_take(p, t);
}
#endif

#endif
