/* Parking and waking: the functions for code that waits or ends the waits of other threads.
 *
 * Owns:    nothing. The rules of who may wake whom are at each function.
 * Reader:  synchronization objects, joins, timers.
 * Must not: be called by a foreign kernel thread.
 */
#ifndef QZI_PARK_H
#define QZI_PARK_H

#include "threadlib/src/base/self.h"

#pragma GCC visibility push(hidden)

/* Suspends the caller. After the switch away from its stack, `after(arg)` runs on the next context of this
 * processor; it releases the internal lock under which the caller made itself visible to wakers. `after` must not
 * switch. Set wait_object and wait_describe before the call. The caller publishes that it blocks (qzi_pub_blocked,
 * before the call); it is published as running when it is switched to. */
void qzi_park(void (*after)(void *), void *arg);

/* Like qzi_park, but returns by `deadline_ns` (CLOCK_MONOTONIC) at the latest. Returns true: woken; false: timed
 * out. `after` has returned by then, so its argument may lie in the caller's frame. Call qzi_timed_begin() before
 * wakers can find the caller. The waiter's entry must say that its wait is timed: a waker wakes a timed waiter only
 * if qzi_claim() returns true, and calls that while the waiter cannot remove itself (under the object's lock; for
 * joins see join.c). If the time-out wins, the waiter removes itself after the return; the claim remains until its
 * next timed wait. */
bool qzi_park_until(void (*after)(void *), void *arg, uint64_t deadline_ns);
void qzi_timed_begin(struct qzi_thread *self);

/* Called by the waker of a timed waiter, once. Returns true: wake it; false: its time-out has won, leave it. */
static inline bool qzi_claim(struct qzi_thread *thread) {
  uint32_t state = QZI_WAITING;
  return atomic_compare_exchange_strong_explicit(&thread->claim, &state, QZI_WOKEN, memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* The result of functions that may have switched. A few instructions (entry_*.S) call them and return `error` to the
 * program. The CPU predicts a return by the last call, which after a switch was made by another thread: unless both
 * calls were made at the same place, the return is mispredicted, which costs some 15 cycles. So in that case those
 * instructions return by a jump, which is predicted by branch history. same_place: the thread that was left last
 * returns to the same place as this one. */
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
/* Called before and after the wait of a thread that will return to `from`. */
static inline void qzi_leaves(const void *from) { qzi_head(qzi_processor_self())->left_from = from; }
static inline uint64_t qzi_same_place(const void *from) { return qzi_head(qzi_processor_self())->left_from == from; }

/* Makes a parked (and claimed) thread ready, to run next on the waker's processor unless another processor takes it. */
void qzi_ready(struct qzi_thread *thread);
/* The same, for a waker that continues for a long time: an idle processor takes the thread at once. */
void qzi_ready_away(struct qzi_thread *thread);
/* Makes the thread ready at the end of the queue. */
void qzi_ready_last(struct qzi_thread *thread);
/* Parks the caller and runs `thread` (parked, claimed) at once on this processor. */
void qzi_handoff(struct qzi_thread *thread, void (*after)(void *), void *arg);
/* Lets a thief take ready threads of this processor, if one has requested it. For code that runs on without entering
 * the queues: otherwise the thief must interrupt the processor (membarrier), which takes ten times as long. */
void qzi_answer(void);
/* qz_yield for waits that spin. The caller is published as ready, and as useful when it runs again. */
void qzi_yield(void);

#pragma GCC visibility pop
#endif
