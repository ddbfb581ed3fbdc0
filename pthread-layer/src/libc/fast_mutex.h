/* Taking a free mutex of the usual kind, and letting it go where nobody waits for it, without a call: as the C
 * library's own pthread_mutex_trylock and pthread_mutex_unlock do it.
 *
 * Owns:    whether that may be done. Writer: qzl_take_look, once, before anything is published; qzl_taken_kind:
 * hold_times.c. Reader: mutex.c, calibrate.c. Must not: be done where it was not seen that the C library does just the
 * same; with a mutex of any other kind; where somebody else stands between the layer and the C library, who would miss
 * it.
 *
 * A program that takes a free lock every 100 ns pays for each instruction of it: the library's function looks for seven
 * kinds of mutexes first, which is a fifth of all that a published lock takes (docs/evidence/pthread-layer.md). The
 * layout is the library's: it is compared, in each process, on a mutex of our own.
 */
#ifndef QZL_FAST_MUTEX_H
#define QZL_FAST_MUTEX_H

#include <stdbool.h>
#include "real.h"

#define QZL_KIND_USUAL 0 /* in __kind: PTHREAD_MUTEX_INITIALIZER, and nothing asked for */

extern bool qzl_takes __attribute__((visibility("hidden")));
void qzl_take_look(void) __attribute__((visibility("hidden")));
/* Kind of the mutexes that are taken so without any further test: QZL_KIND_USUAL; QZL_KIND_NONE, where that may not be
 * done, or hold times are measured. */
#define QZL_KIND_NONE (-1)
extern int qzl_taken_kind __attribute__((visibility("hidden")));

/* false: it is not free. */
__attribute__((always_inline)) static inline bool qzl_take(pthread_mutex_t *mutex, uint32_t tid) {
  int free = 0;
  if (__builtin_expect(
        !__atomic_compare_exchange_n(&mutex->__data.__lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED), 0))
    return false;
  mutex->__data.__owner = (int)tid;
  mutex->__data.__nusers++;
  return true;
}
/* false: somebody waits for it, and nothing has changed that the C library's function would not change again. */
__attribute__((always_inline)) static inline bool qzl_give(pthread_mutex_t *mutex) {
  int taken = 1;
  mutex->__data.__owner = 0;
  mutex->__data.__nusers--;
  if (__builtin_expect(
        __atomic_compare_exchange_n(&mutex->__data.__lock, &taken, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED), 1))
    return true;
  mutex->__data.__nusers++;
  return false;
}

#endif
