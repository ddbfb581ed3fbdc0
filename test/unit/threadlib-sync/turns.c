/* No starvation: beside threads that take an object again and again, every other thread gets its turn. Ends when all
 * have had it; a starving thread causes a time-out of the test. */
#include "helpers.h"

enum { THREADS = 6, TURNS = 50 };
static qz_mutex mutex;
static qz_rwlock rwlock;
static int kind;
static int done; /* threads that have had their turns */

static void take(bool write) {
  if (kind < 3)
    CHECK_IS(qz_mutex_lock(&mutex), 0);
  else
    CHECK_IS(write ? qz_rwlock_wrlock(&rwlock) : qz_rwlock_rdlock(&rwlock), 0);
}
static void let_go(void) {
  if (kind < 3)
    CHECK_IS(qz_mutex_unlock(&mutex), 0);
  else
    CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
}

/* Takes the lock without a pause, and without ever yielding, until all threads have had TURNS turns. */
static void *greedy(void *argument) {
  bool write = (intptr_t)argument % 3 == 0;
  for (long turns = 1;; turns++) {
    take(write);
    let_go();
    if (turns == TURNS) __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    if (turns >= TURNS && __atomic_load_n(&done, __ATOMIC_RELAXED) == THREADS) return NULL;
  }
}

int main(void) {
  for (kind = 0; kind < 4; kind++) {
    if (kind == QZ_SPIN) continue; /* guarantees nothing */
    CHECK_IS(qz_mutex_init(&mutex, "greedy", kind < 3 ? (qz_policy)kind : QZ_BLOCK), 0);
    CHECK_IS(qz_rwlock_init(&rwlock, "greedy"), 0);
    done = 0;
    qz_thread_t threads[THREADS];
    take(true); /* all of them queue up first: then each depends on being let in by the others */
    for (intptr_t i = 0; i < THREADS; i++) threads[i] = start("greedy", greedy, (void *)i);
    for (int i = 0; i < 20; i++) qz_yield();
    let_go();
    for (int i = 0; i < THREADS; i++) finish(threads[i]);
    CHECK_IS(qz_mutex_destroy(&mutex), 0);
    CHECK_IS(qz_rwlock_destroy(&rwlock), 0);
  }
  return 0;
}
