/* QUARTZ_MAX_THREADS=50: creation fails with EAGAIN beyond that, and works again when threads have ended. */
#include <errno.h>
#include <quartz/quartz.h>
#include "test/support/check.h"

static qz_sem gate;
static void *waits(void *arg) {
  qz_sem_wait(&gate);
  return NULL;
}
static void *child(void *arg) { return arg; }
static void touch(void *arg) { ++*(int *)arg; }

int main(void) {
  qz_sem_init(&gate, "gate", 0);
  for (int round = 0; round < 20; round++) {
    qz_thread_t thread[50], more;
    for (int k = 0; k < 50; k++) CHECK(qz_create(&thread[k], NULL, waits, NULL) == 0);
    CHECK(qz_create(&more, NULL, child, NULL) == EAGAIN);
    int calls = 0;
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, touch, &calls); /* called at once */
    CHECK(calls == 1);
    qz_sync(&scope);
    for (int k = 0; k < 50; k++) qz_sem_post(&gate);
    for (int k = 0; k < 50; k++) CHECK(qz_join(thread[k], NULL) == 0);
  }
  return 0;
}
