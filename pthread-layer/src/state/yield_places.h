/* Places of the program that yield the CPU before they wait for a futex: std::atomic::wait and what is built on it
 * look again between some calls of sched_yield before they sleep. A yield there is part of the wait.
 *
 * Owns:    qzl_thread.yields, and which words were waited for after yields at which place. Writer: threads that yield
 * and wait. Reader: they. Must not: take a place for one that waits before it was seen to; a loop that yields for as
 * long as it waits is none.
 */
#ifndef QZL_YIELD_PLACES_H
#define QZL_YIELD_PLACES_H

#include "object_table.h"

#pragma GCC visibility push(hidden)

#define QZL_ATTENDED_HOLD  1u
#define QZL_ATTENDED_YIELD 2u /* for each thread that waits in a yield */
#define QZL_YIELD_WORDS    4u /* last words for which a place waited */

/* The thread begins to wait for that word: if it has just yielded, it did so for the same reason. Returns since when it
 * has waited, in ticks (publisher/ticks.h); 0: from now on. */
uint64_t qzl_yields_before(struct qzl_thread *me, const uint32_t *word);
/* A yield for that futex is over, which began then. The wait is written down when it is known to have ended so. */
void qzl_yield_waited(struct qzl_thread *me, uint32_t index, uint64_t begin);
/* Whether the last yield was just now, so that there was no room for more than a look at what is waited for. */
bool qzl_has_just_yielded(const struct qzl_thread *me);
/* The thread has tried a lock that is taken; whether it did so just now. */
void qzl_tries(struct qzl_thread *me);
bool qzl_has_just_tried(const struct qzl_thread *me);
/* The thread yields at that place; stores the records of the words for which it waits there, the likeliest first.
 * Returns their number; 0: it is not known to wait. */
unsigned qzl_yield_begin(struct qzl_thread *me, uint64_t site, uint32_t words[QZL_YIELD_WORDS]);
/* A yield is over, which began then by the processor's clock. */
void qzl_yield_end(struct qzl_thread *me, uint64_t began);
/* Somebody has let go who waits there, while the thread yielded. qzl_yields_are_futile: whether threads at that place
 * then mostly find that it was another one's turn (all are woken for one unit of a semaphore). */
void qzl_yield_let_go(struct qzl_thread *me);
bool qzl_yields_are_futile(uint64_t site);
/* Whether some thread waits in a yield: for a lock as if it were free, or for another word than the one where it is
 * shown. qzl_yield_waits: one more, or one less (-1). */
extern _Atomic uint32_t qzl_attended;
static inline bool qzl_some_yield(void) {
  return atomic_load_explicit(&qzl_attended, memory_order_relaxed) >= QZL_ATTENDED_YIELD;
}
void qzl_yield_waits(int change);
/* Whether letting go a mutex takes more than taking it off the stack, though nobody sleeps for it: some thread yields,
 * or hold times are measured (qzl_attend_holds, when publishing begins). One word for both, since each free mutex asks.
 */
static inline bool qzl_is_attended(void) { return atomic_load_explicit(&qzl_attended, memory_order_relaxed) != 0; }
void qzl_attend_holds(void);

#pragma GCC visibility pop
#endif
