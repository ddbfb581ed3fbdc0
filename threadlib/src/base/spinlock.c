/* The slow path of the tiny lock.
 *
 * Owns:    nothing.
 * Must not: sleep in the kernel for long: holders need a few instructions, unless they have lost their CPU.
 */
#include "spinlock.h"

#include <sched.h>
#include "publisher/publisher.h"

/* Not work of the thread that runs here, nor of the package: the other kernel thread waits for a CPU. */
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
