/* See readers.h. */
#include "readers.h"

bool qzl_counts_readers;

void qzl_readers_look(void) {
#ifndef __SANITIZE_THREAD__ /* which takes each look at a lock that is in use for a race */
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  qzl_counts_readers = true; /* for the look itself */
  bool free = !qzl_others_read(&lock), one = !qzl_real.pthread_rwlock_tryrdlock(&lock) && !qzl_others_read(&lock),
       two = !qzl_real.pthread_rwlock_tryrdlock(&lock) && qzl_others_read(&lock);
  qzl_real.pthread_rwlock_unlock(&lock);
  bool again = !qzl_others_read(&lock);
  qzl_real.pthread_rwlock_unlock(&lock);
  bool written = !qzl_real.pthread_rwlock_trywrlock(&lock) && !qzl_others_read(&lock);
  qzl_real.pthread_rwlock_unlock(&lock);
  qzl_counts_readers = free && one && two && again && written;
#endif
}
