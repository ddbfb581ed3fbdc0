/* The slow path of the spin lock.
 *
 * Owns:    nothing.
 * Must not: sleep in the kernel for long: a holder needs only a few instructions, unless it has lost its CPU.
 */
#include "spinlock.h"

#include <sched.h>
#include "publisher/publisher.h"

/* With --span, the wait is neither work of the calling thread nor overhead of the package: the other kernel thread
 * waits for a CPU. */
void qzi_relax_long(unsigned tries) {
  uint64_t since = qzi_spanning() ? qzi_span_stands_since() : 0;
  qzi_pause();
  if (tries % 64 == 63) sched_yield();
  if (since) qzi_span_stood(since);
}

void qzi_spin_wait(qzi_spinlock *lock) {
  for (unsigned tries = 0;; tries++) {
    if (!atomic_load_explicit(&lock->word, memory_order_relaxed) &&
        !atomic_exchange_explicit(&lock->word, 1, memory_order_acquire))
      return;
    qzi_relax(tries);
  }
}
