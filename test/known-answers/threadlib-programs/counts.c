/* Exact counts of calls, spawns and accesses to every kind of object, from each caller.
 *
 * expect P 2
 * expect procedure leaf: calls 300000
 * expect calls first -> leaf 100000
 * expect calls second -> leaf 200000
 * expect calls main -> first 1
 * expect calls spawns -> task 1000
 * expect calls loops -> body 50
 * expect calls objects -> lock 10
 * expect calls objects -> table 30
 * expect calls objects -> slots 40
 * expect calls objects -> queue 14
 * expect calls objects -> result 4
 * expect calls objects -> alone 5
 * expect lock lock: acquisitions 10, contended 0
 * expect lock table: acquisitions 30
 * expect semaphore slots: acquisitions 20
 * expect channel queue: acquisitions 14
 * expect barrier alone: acquisitions 5
 */
#include <quartz/quartz.h>
#include "work.h"

static volatile int sink;

PROCEDURE void leaf(void) { sink++; }
PROCEDURE void first(void) {
  for (int k = 0; k < 100000; k++) leaf();
}
PROCEDURE void second(void) {
  for (int k = 0; k < 200000; k++) leaf();
}

PROCEDURE void task(void *unused) { (void)unused; }
PROCEDURE void spawns(void) {
  for (int k = 0; k < 100; k++) {
    qz_scope scope = QZ_SCOPE_INIT;
    for (int m = 0; m < 10; m++) qz_spawn(&scope, task, NULL);
    qz_sync(&scope);
  }
}

PROCEDURE void body(int64_t begin, int64_t end, void *unused) { (void)unused; }
PROCEDURE void loops(void) { qz_parallel_for(0, 50, 1, body, NULL); }

PROCEDURE void objects(void) {
  qz_mutex lock;
  qz_rwlock table;
  qz_sem slots;
  qz_channel queue;
  qz_future result;
  qz_barrier alone;
  void *value;
  MUST(qz_mutex_init(&lock, "lock", QZ_ADAPTIVE));
  MUST(qz_rwlock_init(&table, "table"));
  MUST(qz_sem_init(&slots, "slots", 1));
  MUST(qz_channel_init(&queue, "queue", sizeof(int), 10));
  MUST(qz_future_init(&result, "result"));
  MUST(qz_barrier_init(&alone, "alone", 1, QZ_BLOCK));
  for (int k = 0; k < 10; k++) {
    MUST(qz_mutex_lock(&lock));
    MUST(qz_mutex_unlock(&lock));
  }
  for (int k = 0; k < 20; k++) {
    MUST(qz_rwlock_rdlock(&table));
    MUST(qz_rwlock_unlock(&table));
  }
  for (int k = 0; k < 10; k++) {
    MUST(qz_rwlock_wrlock(&table));
    MUST(qz_rwlock_unlock(&table));
  }
  for (int k = 0; k < 20; k++) {
    MUST(qz_sem_wait(&slots));
    MUST(qz_sem_post(&slots));
  }
  for (int k = 0; k < 7; k++) MUST(qz_channel_send(&queue, &k));
  for (int k = 0, item; k < 7; k++) MUST(qz_channel_receive(&queue, &item));
  MUST(qz_future_set(&result, &lock));
  for (int k = 0; k < 3; k++) MUST(qz_future_get(&result, &value));
  for (int k = 0; k < 5; k++)
    if (qz_barrier_wait(&alone) != QZ_BARRIER_SERIAL) exit(97);
}

int main(void) {
  first();
  second();
  spawns();
  loops();
  objects();
  work_sleep(200 * MS);
  return 0;
}
