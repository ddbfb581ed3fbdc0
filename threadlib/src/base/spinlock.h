/* The spin lock that guards the package's shared data, and pauses for spinning code.
 *
 * Owns:    nothing.
 * Must not: be held across a switch.
 */
#ifndef QZI_SPINLOCK_H
#define QZI_SPINLOCK_H

#include "compiler.h"

#pragma GCC visibility push(hidden)

static inline void qzi_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/* One iteration of a loop that waits until another kernel thread, which may have lost its CPU, has executed a few
 * instructions. */
void qzi_relax_long(unsigned tries);
static inline void qzi_relax(unsigned tries) {
  if (QZI_UNLIKELY(tries >= 63))
    qzi_relax_long(tries);
  else
    qzi_pause();
}

/* The spin lock: to be held for a few instructions, never across a switch. */
typedef struct qzi_spinlock {
  _Atomic(uint32_t) word;
} qzi_spinlock;
void qzi_spin_wait(qzi_spinlock *lock);

static inline void qzi_spin_lock(qzi_spinlock *lock) {
  if (QZI_UNLIKELY(atomic_exchange_explicit(&lock->word, 1, memory_order_acquire))) qzi_spin_wait(lock);
}
static inline bool qzi_spin_trylock(qzi_spinlock *lock) {
  return !atomic_load_explicit(&lock->word, memory_order_relaxed) &&
         !atomic_exchange_explicit(&lock->word, 1, memory_order_acquire);
}
static inline void qzi_spin_unlock(qzi_spinlock *lock) { atomic_store_explicit(&lock->word, 0, memory_order_release); }

#pragma GCC visibility pop
#endif
