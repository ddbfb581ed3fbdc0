/* The slow path of the tiny lock.
 *
 * Owns:    nothing.
 * Must not: sleep in the kernel for long: holders need a few instructions, unless they have lost their CPU.
 */
#include "spinlock.h"

#include <sched.h>

void qzi_spin_wait(qzi_spinlock *lock) {
  for (unsigned n = 1;; n++) {
    if (!atomic_load_explicit(&lock->word, memory_order_relaxed) &&
        !atomic_exchange_explicit(&lock->word, 1, memory_order_acquire))
      return;
    if (n % 128 == 0)
      sched_yield();
    else
      qzi_pause();
  }
}
