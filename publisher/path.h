/* The time path: which thread ended the wait of which other thread (docs/reference/path.md).
 *
 * Owns:    the rules by which chains pass from thread to thread; writing of crumbs.
 * Writer:  an actor's record (abi/chains.h, struct qz_path): the kernel thread that is the processor, or the thread of
 *          the pthread layer. A thread's word (qzi_pub_thread.chain): the processor that runs or holds the thread.
 * Reader:  the sampler. The program reads nothing from the session but what the same writer wrote.
 * Must not: be called while nothing is published; read a clock (except the page that the sampler updates).
 *
 * A chain is one word, the name of its last crumb. A thread that lets another one continue gives it a copy. Before
 * that, and before a thread gives up its processor, it checks whether a snapshot has been taken since that crumb. If
 * so, the snapshot has seen the strand that is about to end, and the thread writes the next crumb. So there is at most
 * about one crumb per snapshot and thread that was running in it, however many hand-overs there are. Source: Oyama,
 * Taura, Yonezawa, "Online computation of critical paths for multithreaded languages" (which carries lengths and
 * strands; using crumbs at the rate of snapshots in place of strands is Quartz's own idea).
 */
#ifndef QZI_PUBLISH_PATH_H
#define QZI_PUBLISH_PATH_H

#include "crumbs.h"
#include "span.h"

/* To be called by the kernel thread that ends the program: its chain becomes that of the run. */
void qzi_path_ended(struct qzi_publisher *p);

/* For a test that compares instruction counts while nothing is published: compiled without chains. */
#ifdef QZI_WITHOUT_CHAINS
#define qzi_path_give(p, to, arrival) ((void)(p), (void)(to))
#define qzi_path_take(p, t)           ((void)(p), (void)(t))
#define qzi_path_turns(p, from, to)   ((void)(p), (void)(from), (void)(to))
#else
/* NULL while work and span are recorded. Loaded once: the next connection may be of another kind. */
static inline struct qz_path *qzi_path_of(const struct qzi_publisher *p) {
  return __atomic_load_n(&p->path, __ATOMIC_ACQUIRE);
}

/* The caller's processor gives its chain to a thread that it holds. */
static inline __attribute__((always_inline)) void qzi_path_give(struct qzi_publisher *p, struct qzi_pub_thread *to,
                                                                enum qz_arrival arrival) {
  struct qz_path *path = qzi_path_of(p);
  if (__builtin_expect(path != NULL, 1))
    __atomic_store_n(&to->chain, qzi_path_now(path) | arrival, __ATOMIC_RELAXED);
  else if (arrival == QZ_ARRIVAL_CREATED)
    qzi_span_created(p, to);
  else
    qzi_span_give(p, to, arrival);
}

/* p continues with t, which has its record. */
static inline __attribute__((always_inline)) void qzi_path_take(struct qzi_publisher *p,
                                                                const struct qzi_pub_thread *t) {
  struct qz_path *path = qzi_path_of(p);
  if (__builtin_expect(path != NULL, 1))
    qzi_path_go_on(path, t);
  else
    qzi_span_take(p, t);
}
/* Both in one: p leaves `from`, which goes on with its own chain later, for `to`; both have a record. */
static inline __attribute__((always_inline)) void qzi_path_turns(struct qzi_publisher *p, struct qzi_pub_thread *from,
                                                                 const struct qzi_pub_thread *to) {
  struct qz_path *path = qzi_path_of(p);
  if (__builtin_expect(path != NULL, 1))
    qzi_path_turn(path, from, to);
  else
    qzi_span_turns(p, from, to);
}
#endif

#endif
