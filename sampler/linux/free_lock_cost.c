/* See free_lock_cost.h. */
#include "free_lock_cost.h"

#include <pthread.h>
#include "sampler/util/clock.h"

#define BATCHES 16u
#define PAIRS   256u

uint64_t qzi_free_lock_ps(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint64_t least_ns = UINT64_MAX;
  for (unsigned batch = 0; batch < BATCHES; batch++) {
    uint64_t begin_ns = qzi_clock_ns();
    for (unsigned k = 0; k < PAIRS; k++) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    uint64_t ns = qzi_clock_ns() - begin_ns;
    if (ns < least_ns) least_ns = ns;
  }
  return least_ns * 1000 / PAIRS;
}
