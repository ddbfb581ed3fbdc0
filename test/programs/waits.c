/* One thread waits for an object of each kind, one after the other, for one unit each, while main works: each wait is
 * charged to its own object. Joins and sleeps are told apart by their places.
 *
 * expect P 2
 * expect root: npt 1, T 1, blocked 1.1667
 * expect condition ready: blocked 0.1667, wait 0.1667, acquisitions 1, contended 1
 * expect semaphore slots: blocked 0.1667, wait 0.1667, contended 1
 * expect lock table: blocked 0.1667, wait 0.1667, contended 1, npt 0.5
 * expect join result: blocked 0.1667, wait 0.1667, contended 1
 * expect join at JOIN: blocked 0.1667, wait 0.1667
 * expect sleep at NAP: blocked 0.1667
 * expect thread waiter: blocked 1, T 0
 * expect procedure prepare: npt 1, calls 6
 */
#include <quartz/quartz.h>
#include "work.h"

#define UNIT (120 * MS)

static qz_mutex guard;
static qz_cond ready;
static int is_ready;
static qz_sem slots;
static qz_rwlock table;
static qz_future result;
static qz_thread_t helper;

PROCEDURE void prepare(uint64_t end_ns) { work_sleep_until(end_ns); }

PROCEDURE void *help(void *unused) {
  qz_sleep_ns(UNIT);
  return unused;
}

PROCEDURE void *wait_for_all(void *unused) {
  void *value;
  MUST(qz_mutex_lock(&guard));
  while (!is_ready) MUST(qz_cond_wait(&ready, &guard));
  MUST(qz_mutex_unlock(&guard));
  MUST(qz_sem_wait(&slots));
  MUST(qz_rwlock_rdlock(&table));
  MUST(qz_rwlock_unlock(&table));
  MUST(qz_future_get(&result, &value));
  MUST(qz_join(helper, NULL)); /* JOIN */
  qz_sleep_ns(UNIT);           /* NAP */
  return unused;
}

int main(void) {
  MUST(qz_mutex_init(&guard, "guard", QZ_BLOCK));
  MUST(qz_cond_init(&ready, "ready"));
  MUST(qz_sem_init(&slots, "slots", 0));
  MUST(qz_rwlock_init(&table, "table"));
  MUST(qz_future_init(&result, "result"));
  MUST(qz_rwlock_wrlock(&table));
  qz_thread_t waiter;
  MUST(qz_create(&waiter, "waiter", wait_for_all, NULL));
  uint64_t begin = work_clock_ns();
  prepare(begin + UNIT);
  MUST(qz_mutex_lock(&guard));
  is_ready = 1;
  MUST(qz_cond_signal(&ready));
  MUST(qz_mutex_unlock(&guard));
  prepare(begin + 2 * UNIT);
  MUST(qz_sem_post(&slots));
  prepare(begin + 3 * UNIT);
  MUST(qz_rwlock_unlock(&table));
  prepare(begin + 4 * UNIT);
  MUST(qz_create(&helper, "helper", help, NULL));
  MUST(qz_future_set(&result, NULL));
  prepare(begin + 5 * UNIT);
  prepare(begin + 6 * UNIT);
  MUST(qz_join(waiter, NULL));
  return 0;
}
