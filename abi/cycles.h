/* The CPU's counter, which takes a third of the time of the kernel's clock to read.
 *
 * Owns:    nothing.
 * Reader:  any thread; safe in signal handlers.
 * Must not: be taken for a clock where qz_cycles_keep_time() returns 0: its rate may change then, and differ between
 * CPUs.
 */
#ifndef QZ_ABI_CYCLES_H
#define QZ_ABI_CYCLES_H

#include <stdint.h>

static inline uint64_t qz_cycles(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}

#pragma GCC visibility push(hidden)

/* Returns whether the kernel keeps time by the same counter: then its rate is constant, and equal on all CPUs. 0 also
 * if that cannot be read. */
int qz_cycles_keep_time(void);

#pragma GCC visibility pop
#endif
