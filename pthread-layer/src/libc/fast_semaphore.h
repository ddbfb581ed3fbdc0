/* Whether a semaphore has no unit, without a call: as the C library's own sem_trywait finds out.
 *
 * Owns:    whether that is known. Writer: qzl_units_look, once, before anything is published. Reader: semaphore.c.
 * Must not: be believed where it was not seen that the C library counts units like this; change a semaphore of the
 * program.
 */
#ifndef QZL_FAST_SEMAPHORE_H
#define QZL_FAST_SEMAPHORE_H

#include <stdbool.h>
#include "real.h"

extern bool qzl_counts_units __attribute__((visibility("hidden")));
void qzl_units_look(void) __attribute__((visibility("hidden")));

/* false: it has some, or that is not known. */
static inline bool qzl_has_no_unit(const sem_t *semaphore) {
  return qzl_counts_units &&
         !__atomic_load_n((const uint32_t __attribute__((may_alias)) *)(const void *)semaphore, __ATOMIC_RELAXED);
}

#endif
