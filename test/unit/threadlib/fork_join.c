/* Fork-join: every spawned call runs exactly once, also if there is little stack; loops. */
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

/* Loops of all lengths, also with elements that take longer and longer, or wait. */
static long longest, calls;
static void adds_length(int64_t begin, int64_t end, void *arg) {
  uint64_t length = (uint64_t)end - (uint64_t)begin;
  CHECK(begin < end);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  if (length > 1000) __atomic_fetch_add(&longest, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add((uint64_t *)arg, length, __ATOMIC_RELAXED);
}
static void waits(int64_t begin, int64_t end, void *arg) {
  for (int64_t k = begin; k < end; k++) {
    if (k % 64 < 16) qz_yield();
    if (k % 64 == 0) qz_sleep_ns(100000);
    for (volatile int64_t n = 0; n < k; n++) continue;
  }
  body(begin, end, arg);
}
/* Each but the last one waits for the next one. */
static qz_sem next[16];
static void chain(int64_t begin, int64_t end, void *arg) {
  int64_t last = *(int64_t *)arg;
  CHECK(end == begin + 1);
  if (begin < last) qz_sem_wait(&next[begin + 1]);
  qz_sem_post(&next[begin]);
}
/* A loop in a loop, whose outer elements are left by others than those that began them. */
static void inner(int64_t begin, int64_t end, void *arg) { qz_parallel_for(begin * 100, end * 100, 0, waits, NULL); }
static void all_once(int count) {
  for (int k = 0; k < count; k++) CHECK(hits[k] == 1);
  for (int k = 0; k < count; k++) hits[k] = 0;
}
static void loops(void) {
  for (int count = 0; count < 700; count += count < 200 ? 1 : 37) {
    qz_parallel_for(0, count, 0, body, NULL);
    all_once(count);
  }
  for (int round = 0; round < 3; round++) {
    qz_parallel_for(0, 3000, 0, waits, NULL);
    all_once(3000);
    qz_parallel_for(0, 20, 0, inner, NULL);
    all_once(2000);
  }
  uint64_t sum = 0;
  qz_parallel_for(INT64_MIN, INT64_MAX, 0, adds_length, &sum);
  CHECK(sum == UINT64_MAX);
  sum = 0;
  longest = calls = 0;
  qz_parallel_for(-50000, 50000, 1000, adds_length, &sum);
  CHECK(sum == 100000 && longest == 0 && calls >= 100);
  for (int64_t last = 0; last < 16; last++) {
    for (int k = 0; k < 16; k++) qz_sem_init(&next[k], NULL, 0);
    qz_parallel_for(0, last + 1, last % 2, chain, &last);
  }
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
  loops();
  qz_parallel_for(INT64_MAX - 10, INT64_MAX - 10, 1, body, NULL);
  return 0;
}
