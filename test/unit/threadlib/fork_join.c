/* Fork-join: every spawned call runs exactly once, also if there is little stack. */
#include <quartz/quartz.h>
#include "test/support/check.h"

struct fib {
  int n;
  long value;
};
static void fib(void *arg) {
  struct fib *f = arg;
  if (f->n < 2) {
    f->value = f->n;
    return;
  }
  struct fib a = {f->n - 1, 0}, b = {f->n - 2, 0};
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, fib, &a);
  fib(&b);
  qz_sync(&scope);
  f->value = a.value + b.value;
}
static void *in_thread(void *arg) {
  fib(arg);
  return NULL;
}

static void deep(void *arg) {
  char space[1000];
  long left = (long)arg;
  space[left % 1000] = 1;
  if (left == 0) return;
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, deep, (void *)(left - 1));
  qz_sync(&scope);
  CHECK(space[left % 1000] == 1);
}

static int hits[100000];
static void body(int64_t begin, int64_t end, void *arg) {
  for (int64_t k = begin; k < end; k++) __atomic_fetch_add(&hits[k], 1, __ATOMIC_RELAXED);
}

int main(void) {
  struct fib f = {24, 0};
  fib(&f);
  CHECK(f.value == 46368);
  qz_thread_t t;
  qz_create(&t, NULL, in_thread, &f);
  qz_join(t, NULL);
  CHECK(f.value == 46368);
  deep((void *)500);
  for (int64_t grain = 0; grain < 200; grain += 37) {
    qz_parallel_for(0, 100000, grain, body, NULL);
    for (int k = 0; k < 100000; k++) CHECK(hits[k] == 1);
    for (int k = 0; k < 100000; k++) hits[k] = 0;
  }
  qz_parallel_for(INT64_MAX - 10, INT64_MAX - 10, 1, body, NULL);
  return 0;
}
