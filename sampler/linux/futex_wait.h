/* futex(2): threads of the sampler that wait for each other, or for a time. Owns nothing. */
#ifndef QZI_LINUX_FUTEX_WAIT_H
#define QZI_LINUX_FUTEX_WAIT_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* While the word has that value, and for 50 ms at most. */
static inline void qzi_futex_wait(_Atomic uint32_t *word, uint32_t value) {
  struct timespec most = {0, 50000000};
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
}
/* While the word has that value, and until that time of CLOCK_MONOTONIC at most. */
static inline void qzi_futex_wait_until(_Atomic uint32_t *word, uint32_t value, const struct timespec *until) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}
static inline void qzi_futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
