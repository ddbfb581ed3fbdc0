/* A writer waits for two readers of the lock: one works, the other waits for something else. Both bear the writer's
 * wait in equal parts, wherever they are.
 *
 * expect P 2
 * expect lock table: wait 0.8, acquisitions 3, contended 1
 * expect holders lock table: scan 0.5, keep 0.5, update 0
 */
#include <quartz/quartz.h>
#include "work.h"

static qz_rwlock table;
static qz_sem done, held;

PROCEDURE void *keep(void *unused) {
  MUST(qz_rwlock_rdlock(&table));
  MUST(qz_sem_post(&held));
  MUST(qz_sem_wait(&done));
  MUST(qz_rwlock_unlock(&table));
  return unused;
}

PROCEDURE void *scan(void *unused) {
  MUST(qz_rwlock_rdlock(&table));
  MUST(qz_sem_post(&held));
  work_sleep(400 * MS);
  MUST(qz_rwlock_unlock(&table));
  MUST(qz_sem_post(&done));
  return unused;
}

PROCEDURE void update(void) {
  MUST(qz_rwlock_wrlock(&table));
  work_sleep(100 * MS);
  MUST(qz_rwlock_unlock(&table));
}

int main(void) {
  MUST(qz_rwlock_init(&table, "table"));
  MUST(qz_sem_init(&done, "done", 0));
  MUST(qz_sem_init(&held, "held", 0));
  qz_thread_t thread[2];
  MUST(qz_create(&thread[0], "keeper", keep, NULL));
  MUST(qz_create(&thread[1], "scanner", scan, NULL));
  for (int k = 0; k < 2; k++) MUST(qz_sem_wait(&held));
  update();
  for (int k = 0; k < 2; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
