/* futex(2): waiting among the sampler's own threads, with a limit of time. Owns nothing. */
#ifndef QZI_LINUX_FUTEX_WAIT_H
#define QZI_LINUX_FUTEX_WAIT_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits while the word has that value, at most 50 ms. */
static inline void qzi_futex_wait(_Atomic uint32_t *word, uint32_t value) {
  struct timespec most = {0, 50000000};
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
}
/* Waits while the word has that value, at most until that time of CLOCK_MONOTONIC. */
static inline void qzi_futex_wait_until(_Atomic uint32_t *word, uint32_t value, const struct timespec *until) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}
static inline void qzi_futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
