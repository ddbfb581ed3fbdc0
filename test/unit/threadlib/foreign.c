/* Calls without a processor: foreign:CALL in a kernel thread created by the program, inside:CALL in a blocking region.
 * Each ends with one line and SIGABRT (ends.sh). */
#include <pthread.h>
#include <quartz/quartz.h>
#include <string.h>
#include "test/support/check.h"

static qz_thread_t thread;
static qz_scope scope = QZ_SCOPE_INIT;
static qz_mutex mutex, held;
static qz_rwlock table;
static qz_cond condition;
static qz_sem semaphore;
static qz_barrier barrier;
static qz_channel channel;
static qz_future future;
static const struct timespec past = {1, 0};

static void *nothing(void *arg) { return arg; }
static void task(void *arg) {}
static void body(int64_t begin, int64_t end, void *arg) {}

#define CALL(name, ...)      \
  if (!strcmp(call, name)) { \
    __VA_ARGS__;             \
    return NULL;             \
  }
static void *act(void *arg) {
  const char *call = arg;
  qz_thread_t t;
  int item = 0;
  void *result;
  CALL("create", qz_create(&t, NULL, nothing, NULL))
  CALL("join", qz_join(thread, NULL))
  CALL("detach", qz_detach(thread))
  CALL("yield", qz_yield())
  CALL("sleep", qz_sleep_ns(1))
  CALL("self", qz_self())
  CALL("exit", qz_exit(NULL))
  CALL("spawn", qz_spawn(&scope, task, NULL))
  CALL("sync", qz_sync(&scope))
  CALL("parallel_for", qz_parallel_for(0, 10, 1, body, NULL))
  CALL("blocking", qz_blocking_begin("foreign"))
  CALL("init", qz_init(NULL))
  CALL("mutex_lock", qz_mutex_lock(&mutex))
  CALL("mutex_trylock", qz_mutex_trylock(&mutex))
  CALL("mutex_timedlock", qz_mutex_timedlock(&mutex, &past))
  CALL("mutex_unlock", qz_mutex_unlock(&held))
  CALL("rwlock_rdlock", qz_rwlock_rdlock(&table))
  CALL("rwlock_unlock", qz_rwlock_unlock(&table))
  CALL("cond_wait", qz_cond_wait(&condition, &held))
  CALL("cond_signal", qz_cond_signal(&condition))
  CALL("sem_wait", qz_sem_wait(&semaphore))
  CALL("sem_post", qz_sem_post(&semaphore))
  CALL("barrier", qz_barrier_wait(&barrier))
  CALL("channel_send", qz_channel_send(&channel, &item))
  CALL("channel_close", qz_channel_close(&channel))
  CALL("future_set", qz_future_set(&future, NULL))
  CALL("future_get", qz_future_get(&future, &result))
  fprintf(stderr, "no call %s\n", call);
  _Exit(2);
}

int main(int argc, char **argv) {
  const char *call = argc > 1 ? strchr(argv[1], ':') : NULL;
  CHECK(call);
  CHECK(qz_mutex_init(&mutex, NULL, QZ_ADAPTIVE) == 0 && qz_mutex_init(&held, NULL, QZ_BLOCK) == 0);
  CHECK(qz_rwlock_init(&table, NULL) == 0 && qz_cond_init(&condition, NULL) == 0 &&
        qz_sem_init(&semaphore, NULL, 0) == 0);
  CHECK(qz_barrier_init(&barrier, NULL, 1, QZ_BLOCK) == 0 && qz_future_init(&future, NULL) == 0);
  CHECK(qz_channel_init(&channel, NULL, sizeof(int), 1) == 0);
  CHECK(qz_mutex_lock(&held) == 0 && qz_rwlock_rdlock(&table) == 0);
  CHECK(qz_create(&thread, NULL, nothing, NULL) == 0);
  qz_spawn(&scope, task, NULL);
  if (!strncmp(argv[1], "inside", 6)) {
    qz_blocking_begin("inside");
    act((void *)(call + 1));
  } else {
    pthread_t foreign;
    CHECK(pthread_create(&foreign, NULL, act, (void *)(call + 1)) == 0);
    pthread_join(foreign, NULL);
  }
  return 0;
}
