/* How programs end: each mode is a program, checked by ends.sh. */
#include <quartz/quartz.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/support/check.h"

static qz_mutex a, b;
static qz_sem never;
static int holding;
static void *lock_both(void *arg) {
  qz_mutex *first = arg ? &b : &a, *second = arg ? &a : &b;
  qz_mutex_lock(first);
  __atomic_fetch_add(&holding, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&holding, __ATOMIC_SEQ_CST) < 2) qz_yield();
  qz_mutex_lock(second);
  return NULL;
}
static void *exits(void *arg) {
  qz_yield();
  exit(7);
}
static void *prints(void *arg) {
  for (int k = 0; k < 10; k++) qz_yield();
  printf("the last\n");
  return NULL;
}
static void *waits(void *arg) {
  qz_sem_wait(&never);
  return NULL;
}
static void *adds(void *arg) { return (void *)((long)arg + 1); }
static void *forks(void *arg) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    /* only this thread remains, on one processor; all functions of the package work */
    CHECK(qz_processors() == 1);
    qz_thread_t t[100];
    void *result;
    for (long k = 0; k < 100; k++) CHECK(qz_create(&t[k], NULL, adds, (void *)k) == 0);
    for (long k = 0; k < 100; k++) CHECK(qz_join(t[k], &result) == 0 && (long)result == k + 1);
    qz_sleep_ns(1000000);
    printf("child\n");
    return NULL; /* the last thread: the process ends with 0 */
  }
  int status;
  qz_blocking_begin("waitpid");
  waitpid(child, &status, 0);
  qz_blocking_end();
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  printf("parent\n");
  return NULL;
}
static void recurse(volatile char *above) {
  volatile char space[1024];
  space[0] = above ? above[0] : 1;
  if (space[0]) recurse(space);
  space[1] = space[0];
}
static void *overflows(void *arg) {
  recurse(NULL);
  return NULL;
}

/* The last one of ten spawned calls never ends. */
static int begun;
static void last_waits(void *arg) {
  if (__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST) == 10) qz_sem_wait(&never);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  qz_thread_t t[2];
  qz_mutex_init(&a, "first lock", QZ_BLOCK);
  qz_mutex_init(&b, "second lock", QZ_BLOCK);
  qz_sem_init(&never, "never", 0);
  if (!strcmp(mode, "deadlock")) {
    qz_create(&t[0], "left", lock_both, NULL);
    qz_create(&t[1], "right", lock_both, &t);
    qz_join(t[0], NULL);
  } else if (!strcmp(mode, "unnamed")) {
    CHECK(qz_create(&t[0], NULL, waits, NULL) == 0);
    qz_join(t[0], NULL);
  } else if (!strcmp(mode, "spawned")) {
    qz_scope scope = QZ_SCOPE_INIT;
    for (int k = 0; k < 10; k++) qz_spawn(&scope, last_waits, NULL);
    while (qz_processors() > 1 && __atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 10) usleep(100);
    qz_sync(&scope);
  } else if (!strcmp(mode, "alone")) {
    qz_sem_wait(&never);
  } else if (!strcmp(mode, "exit")) {
    qz_create(&t[0], NULL, exits, NULL);
    qz_join(t[0], NULL);
  } else if (!strcmp(mode, "main-leaves")) {
    qz_create(&t[0], NULL, prints, NULL);
    qz_exit(NULL);
  } else if (!strcmp(mode, "main-leaves-deadlock")) {
    qz_create(&t[0], "waiter", waits, NULL);
    qz_exit(NULL);
  } else if (!strcmp(mode, "fork")) {
    qz_create(&t[0], NULL, forks, NULL);
    qz_join(t[0], NULL);
    qz_create(&t[0], NULL, adds, NULL);
    qz_join(t[0], NULL);
    forks(NULL); /* from main */
  } else if (!strcmp(mode, "overflow")) {
    qz_create(&t[0], "deep one", overflows, NULL);
    qz_yield();
    qz_join(t[0], NULL);
  } else if (!strcmp(mode, "region")) {
    qz_blocking_begin("region");
    qz_yield();
  }
  return 0;
}
