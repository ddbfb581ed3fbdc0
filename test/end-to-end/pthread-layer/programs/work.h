/* Work of a known length by the clock, on a CPU. It counts between readings of the clock, because a loop that only
 * reads the clock does no work. */
#ifndef TEST_PROGRAMS_WORK_H
#define TEST_PROGRAMS_WORK_H
#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline void work_us(uint64_t us) {
  uint64_t end = now_ns() + us * 1000;
  while (now_ns() < end)
    for (volatile int k = 0; k < 100; k = k + 1) continue;
}
/* The calling thread's processor time. */
static inline uint64_t own_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
/* The same by the thread's processor time: on a loaded machine, everything that runs beside it has that much more time.
 */
static inline void work_own_us(uint64_t us) {
  uint64_t begin = 0, now;
  do {
    for (volatile int k = 0; k < 1000; k = k + 1) continue;
    now = own_ns();
    if (!begin) begin = now;
  } while (now - begin < us * 1000);
}
#endif
