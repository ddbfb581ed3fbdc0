/* A program of random phases, from the seed in its argument: threads that compute, wait for locks, a barrier and a
 * channel, sleep and do I/O, for random times. Nobody knows its answer but the exact trace (test/known-answers/oracle).
 *
 * expect P 3
 * expect manual
 */
#include <quartz/quartz.h>
#include "work.h"

#define THREADS 5
static qz_mutex blocked_lock, spun_lock;
static qz_barrier meet;
static qz_sem pair;

WORK_INLINE uint64_t random_next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}
WORK_INLINE uint64_t random_ns(uint64_t *state, uint64_t mean_ns) { return random_next(state) % (2 * mean_ns); }

PROCEDURE void compute(uint64_t ns) { work_sleep(ns); }
PROCEDURE void nested(uint64_t ns) { compute(ns); }
PROCEDURE void with_blocked_lock(uint64_t ns) {
  MUST(qz_mutex_lock(&blocked_lock));
  nested(ns);
  MUST(qz_mutex_unlock(&blocked_lock));
}
PROCEDURE void with_spun_lock(uint64_t ns) {
  MUST(qz_mutex_lock(&spun_lock));
  compute(ns);
  MUST(qz_mutex_unlock(&spun_lock));
}
PROCEDURE void reading(uint64_t ns) {
  qz_blocking_begin("disk");
  work_sleep(ns);
  qz_blocking_end();
}
PROCEDURE void with_semaphore(uint64_t ns) {
  MUST(qz_sem_wait(&pair));
  compute(ns);
  MUST(qz_sem_post(&pair));
}

PROCEDURE void *act(void *seed) {
  uint64_t state = (uintptr_t)seed;
  random_next(&state);
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < 8; k++) {
      uint64_t ns = random_ns(&state, 2 * MS);
      switch (random_next(&state) % 8) {
      case 0:
      case 1: compute(ns); break;
      case 2: nested(ns); break;
      case 3: with_blocked_lock(ns); break;
      case 4: with_spun_lock(ns / 2); break;
      case 5: reading(ns); break;
      case 6: with_semaphore(ns); break;
      default: qz_yield();
      }
    }
    int error = qz_barrier_wait(&meet);
    if (error && error != QZ_BARRIER_SERIAL) MUST(error);
  }
  return NULL;
}

int main(int count, char **arguments) {
  uintptr_t seed = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
  MUST(qz_mutex_init(&blocked_lock, "blocked-lock", QZ_BLOCK));
  MUST(qz_mutex_init(&spun_lock, "spun-lock", QZ_SPIN));
  MUST(qz_barrier_init(&meet, "meet", THREADS, QZ_BLOCK));
  MUST(qz_sem_init(&pair, "pair", 2));
  qz_thread_t thread[THREADS];
  for (int k = 0; k < THREADS; k++)
    MUST(qz_create(&thread[k], "actor", act, (void *)(seed * 977 + (uintptr_t)k * 31 + 1)));
  for (int k = 0; k < THREADS; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
