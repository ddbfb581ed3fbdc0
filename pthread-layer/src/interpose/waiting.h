/* What several kinds of call share: exact hold times, times to wait until, waits that may be cancelled.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 */
#ifndef QZL_WAITING_H
#define QZL_WAITING_H

#include <errno.h>
#include "pthread-layer/src/state/held_locks.h"
#include "pthread-layer/src/state/path.h"
#include "pthread-layer/src/state/waits.h"

/* Hold times, where they are wanted. */
static inline void acquired(struct qzl_thread *me, const void *lock, unsigned kind) {
  uint32_t index;
  if (__builtin_expect(!qzi_pub_exact_hold, 1)) return;
  qzl_asked(me, lock, kind, &index);
  qzl_acquired(me, index, lock);
}

/* Times and clocks are checked even where the lock is free. */
static inline bool proper(const struct timespec *until) { return until->tv_nsec >= 0 && until->tv_nsec < 1000000000; }
static inline bool known_clock(clockid_t clock) { return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME; }

struct waiting {
  struct qzl_wait wait;
  uint64_t key;
  bool counted, failed;
};
/* Also when the thread is cancelled in its wait. */
static inline void stop_waiting(struct waiting *its) {
  int error = errno;
  qzl_wait_end(&its->wait, its->counted);
  if (its->failed && its->wait.index && qzi_publishing())
    __atomic_fetch_add(&QZI_PUB_OBJECT(its->wait.index)->failed, 1, __ATOMIC_RELAXED);
  qzl_hide(its->wait.me, its->wait.index, its->key);
  errno = error;
}

#endif
