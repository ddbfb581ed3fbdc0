/* Parking and waking: what whoever waits, or lets others go on, calls.
 *
 * Owns:    nothing. The rules of who may wake whom stand with each function.
 * Reader:  synchronization objects, joins, timers.
 * Must not: be called by a kernel thread that is not the package's.
 */
#ifndef QZI_PARK_H
#define QZI_PARK_H

#include "threadlib/src/base/self.h"

#pragma GCC visibility push(hidden)

/* Suspends the caller. When its stack has been left, `after(arg)` runs on the next context of this processor: there the
 * internal lock is released under which the caller made itself findable. `after` must not switch. Set wait_object,
 * wait_describe before. Publishing of the block is the caller's business (qzi_pub_blocked before, it is made running
 * when it is switched in). */
void qzi_park(void (*after)(void *), void *arg);

/* As qzi_park, but comes back by `deadline_ns` (CLOCK_MONOTONIC) at the latest. True: woken; false: timed out. `after`
 * has returned by then, so its argument may lie in the caller's frame. Call qzi_timed_begin() before the caller can be
 * found by wakers. Where it can be found must say that its wait is timed: a waker wakes a timed waiter only if
 * qzi_claim() is true, and calls that while the waiter can't take itself out (under the object's lock; for joins see
 * join.c). When the time-out wins, the waiter takes itself out after it returned; the claim stands until then, and
 * until the next timed wait. */
bool qzi_park_until(void (*after)(void *), void *arg, uint64_t deadline_ns);
void qzi_timed_begin(struct qzi_thread *self);

/* For the waker of a timed waiter, once: true: wake it; false: its time-out won, leave it. */
static inline bool qzi_claim(struct qzi_thread *thread) {
  uint32_t state = QZI_WAITING;
  return atomic_compare_exchange_strong_explicit(&thread->claim, &state, QZI_WOKEN, memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* What functions return that may have switched, to the few instructions that called them (entry_*.S) and return `error`
 * to the program. A CPU predicts a return by the call that it saw last, and after a switch that was another thread's:
 * unless it was made at the same place, the return is mispredicted, some 15 cycles. So it is made as a jump, which is
 * predicted by what went before. same_place: the thread that was left goes on where this one does. */
struct qzi_back {
  uint64_t error, same_place;
};
#if defined(__x86_64__)
#define QZI_RETURNS_ELSEWHERE(name, body, parameters, arguments) QZI_HIDDEN int name parameters; /* entry_x86_64.S */
#else
#define QZI_RETURN_ADDRESS __builtin_return_address(0)
#define QZI_RETURNS_ELSEWHERE(name, body, parameters, arguments) \
  static __attribute__((noinline)) int name parameters { return (int)body arguments.error; }
#endif
/* Before and after a thread waits that will return to `from`. */
static inline void qzi_leaves(const void *from) { qzi_head(qzi_processor_self())->left_from = from; }
static inline uint64_t qzi_same_place(const void *from) { return qzi_head(qzi_processor_self())->left_from == from; }

/* Makes a parked (and claimed) thread ready, to run next on the waker's processor unless another one takes it. */
void qzi_ready(struct qzi_thread *thread);
/* The same where the waker goes on, and for long: a processor that has nothing to run takes the thread at once. */
void qzi_ready_away(struct qzi_thread *thread);
/* The same, at the end of the queue. */
void qzi_ready_last(struct qzi_thread *thread);
/* Parks the caller and runs `thread` (parked, claimed) at once on this processor. */
void qzi_handoff(struct qzi_thread *thread, void (*after)(void *), void *arg);
/* Lets a thief have the threads that are ready here, if one asks: for whoever runs on without a call that does so. Else
 * the thief has to interrupt the processor (membarrier), which takes ten times as long. */
void qzi_answer(void);
/* qz_yield for waits that spin. The caller is published as ready, then as useful when it comes back. */
void qzi_yield(void);

#pragma GCC visibility pop
#endif
