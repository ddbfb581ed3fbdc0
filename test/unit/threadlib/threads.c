/* Creation, joining and ending of threads: results, order, errors. */
#include <errno.h>
#include <quartz/quartz.h>
#include <string.h>
#include "test/support/check.h"

static void *twice(void *arg) { return (void *)((long)arg * 2); }
static void *leaves(void *arg) { qz_exit(arg); }
static void *yields(void *arg) {
  for (int k = 0; k < 100; k++) qz_yield();
  return arg;
}
static void *joins_itself(void *arg) {
  void *result;
  return (void *)(long)qz_join(qz_self(), &result);
}
static void *waits(void *arg) {
  while (!__atomic_load_n((int *)arg, __ATOMIC_ACQUIRE)) qz_yield();
  return NULL;
}
static void *joins(void *arg) {
  qz_thread_t other = *(qz_thread_t *)arg;
  return (void *)(long)qz_join(other, NULL);
}
static void *sleeps(void *arg) {
  qz_sleep_ns((uint64_t)(long)arg);
  return arg;
}

static struct timespec in_ms(long ms) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ms % 1000 * 1000000;
  t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

int main(void) {
  qz_thread_t t, many[1000];
  void *result;
  /* joined at once (called by the joiner), and after having run */
  CHECK(qz_create(&t, "twice", twice, (void *)21) == 0);
  CHECK(qz_join(t, &result) == 0 && (long)result == 42);
  CHECK(qz_join(t, &result) == ESRCH);
  CHECK(qz_create(&t, NULL, twice, (void *)4) == 0);
  qz_yield();
  CHECK(qz_join(t, &result) == 0 && (long)result == 8);
  for (int way = 0; way < 2; way++) {
    CHECK(qz_create(&t, NULL, leaves, (void *)7) == 0);
    if (way) qz_yield();
    CHECK(qz_join(t, &result) == 0 && (long)result == 7);
  }
  for (long k = 0; k < 1000; k++) CHECK(qz_create(&many[k], NULL, yields, (void *)k) == 0);
  for (long k = 0; k < 1000; k++) CHECK(qz_join(many[k], &result) == 0 && (long)result == k);

  /* errors */
  CHECK(qz_create(&t, NULL, joins_itself, NULL) == 0);
  CHECK(qz_join(t, &result) == 0 && (long)result == EDEADLK);
  int go = 0;
  CHECK(qz_create(&t, "waits", waits, &go) == 0);
  CHECK(qz_tryjoin(t, NULL) == EBUSY);
  struct timespec soon = in_ms(20);
  CHECK(qz_timedjoin(t, NULL, &soon) == ETIMEDOUT);
  struct timespec bad = {0, 2000000000};
  CHECK(qz_timedjoin(t, NULL, &bad) == EINVAL);
  qz_thread_t second;
  CHECK(qz_create(&second, "joins", joins, &t) == 0);
  while (qz_tryjoin(t, NULL) == EBUSY) qz_sleep_ns(1000000);
  CHECK(qz_join(t, NULL) == EINVAL); /* second waits for it */
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  CHECK(qz_join(second, &result) == 0 && result == NULL);
  CHECK(qz_detach(t) == ESRCH);
  go = 0;
  CHECK(qz_create(&t, "waits", waits, &go) == 0);
  CHECK(qz_detach(t) == 0 && qz_detach(t) == EINVAL && qz_join(t, NULL) == EINVAL);
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  qz_thread_attr attr = {.stack_bytes = 100};
  CHECK(qz_thread_create(&t, &attr, twice, NULL) == EINVAL);
  CHECK(qz_thread_create(&t, NULL, NULL, NULL) == EINVAL && qz_create(&t, "nothing to do", NULL, NULL) == EINVAL);
  attr = (qz_thread_attr){.name = "big", .stack_bytes = 1 << 20};
  CHECK(qz_thread_create(&t, &attr, twice, (void *)3) == 0);
  CHECK(qz_join(t, &result) == 0 && (long)result == 6);
  attr = (qz_thread_attr){.detached = 1};
  CHECK(qz_thread_create(NULL, &attr, twice, (void *)3) == 0);
  CHECK(qz_init(&(qz_options){.processors = 3}) == EBUSY);
  CHECK(qz_equal(qz_self(), qz_self()) && !qz_equal(qz_self(), t));

  /* sleep, timed joins that succeed */
  for (long k = 0; k < 100; k++) CHECK(qz_create(&many[k], NULL, sleeps, (void *)((k * 37 % 100) * 100000 + 1)) == 0);
  for (long k = 0; k < 100; k++) {
    struct timespec late = in_ms(20000);
    CHECK(qz_timedjoin(many[k], &result, &late) == 0 && (long)result == (k * 37 % 100) * 100000 + 1);
  }
  return 0;
}
