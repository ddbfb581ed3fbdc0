/* One thread waits for an object of each kind, one after the other, for one unit each, while main works: each wait is
 * charged to its own object. Joins and sleeps are distinguished by their places.
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
#include <stdatomic.h>
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

static atomic_int step; /* that the waiter has come to: each unit begins with its wait, however late the machine is */

PROCEDURE void prepare(int wait) {
  while (atomic_load(&step) < wait) work_sleep(MS / 4);
  work_sleep(UNIT);
}

PROCEDURE void *help(void *unused) {
  qz_sleep_ns(UNIT);
  return unused;
}

PROCEDURE void *wait_for_all(void *unused) {
  void *value;
  MUST(qz_mutex_lock(&guard));
  atomic_store(&step, 1);
  while (!is_ready) MUST(qz_cond_wait(&ready, &guard));
  MUST(qz_mutex_unlock(&guard));
  atomic_store(&step, 2);
  MUST(qz_sem_wait(&slots));
  atomic_store(&step, 3);
  MUST(qz_rwlock_rdlock(&table));
  MUST(qz_rwlock_unlock(&table));
  atomic_store(&step, 4);
  MUST(qz_future_get(&result, &value));
  atomic_store(&step, 5);
  MUST(qz_join(helper, NULL)); /* JOIN */
  atomic_store(&step, 6);
  qz_sleep_ns(UNIT); /* NAP */
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
  prepare(1);
  MUST(qz_mutex_lock(&guard));
  is_ready = 1;
  MUST(qz_cond_signal(&ready));
  MUST(qz_mutex_unlock(&guard));
  prepare(2);
  MUST(qz_sem_post(&slots));
  prepare(3);
  MUST(qz_rwlock_unlock(&table));
  prepare(4);
  MUST(qz_create(&helper, "helper", help, NULL));
  MUST(qz_future_set(&result, NULL));
  prepare(5);
  prepare(6);
  MUST(qz_join(waiter, NULL));
  return 0;
}
