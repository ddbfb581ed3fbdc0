/* Whether others than the calling thread hold a read-write lock for reading.
 *
 * Owns:    whether that is known. Writer: qzl_readers_look, once, before anything is published. Reader: rwlock.c.
 * Must not: be believed where it was not seen that the C library counts readers like this; change a lock of the
 * program.
 *
 * Who waits for a lock to write goes on when the last reader lets go, and learns from the lock's record who that was
 * (state/path.h). If each of several readers wrote that down, the record's cache line would go from CPU to CPU beside
 * the lock's own: a lock that several threads read all the time, while another waits to write, took twice as long.
 */
#ifndef QZL_READERS_H
#define QZL_READERS_H

#include <stdbool.h>
#include "real.h"

extern bool qzl_counts_readers __attribute__((visibility("hidden")));
void qzl_readers_look(void) __attribute__((visibility("hidden")));

/* Of a lock that the caller holds. true: for reading, and others do, too. */
static inline bool qzl_others_read(const pthread_rwlock_t *lock) {
  unsigned readers = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);
  bool writing = readers & 1; /* 2: a writer has it or waits, 4: readers wait */
  return qzl_counts_readers && !writing && readers >> 3 > 1;
}

#endif
