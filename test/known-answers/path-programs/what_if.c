/* "What if" of the thread package, each case by its name, of counted units: see ../what-if.test.ts. */
#include <quartz/quartz.h>
#define UNITS_ALONE
#include "units.h"

static qz_mutex lock;

/* Both called and started with. */
PROCEDURE static void a(void *unused) { units(300); }
PROCEDURE static void b(void *unused) { units(200); }
PROCEDURE static void never(void *unused) { units(1); }

/* 100 alone, 300 in parallel with 200, 50 alone: span 450. Without a: 350, without b: 450; a at 0.8: 390. */
static void branches(void) {
  units(100);
  qz_scope scope = {0};
  qz_spawn(&scope, a, NULL);
  qz_spawn(&scope, b, NULL);
  qz_sync(&scope);
  units(50);
}

PROCEDURE static void leaf(void *argument) { units((uint64_t) * (long *)argument); }
PROCEDURE static void inner(void *unused) {
  long n = 100;
  qz_scope scope = {0};
  qz_spawn(&scope, leaf, &n);
  units(40);
  qz_sync(&scope);
  units(60);
}
PROCEDURE static void outer(void *unused) {
  long n = 130;
  qz_scope scope = {0};
  qz_spawn(&scope, inner, NULL);
  qz_spawn(&scope, leaf, &n);
  qz_sync(&scope);
}
/* inner is max(100, 40) + 60 = 160, in parallel with 130: span 160. Without inner 130; without leaf 100; if only leaf
 * in inner took no time, 130; without outer, nothing. */
static void nested(void) {
  qz_scope scope = {0};
  qz_spawn(&scope, outer, NULL);
  qz_sync(&scope);
}

/* Finds the lock held. */
static void *comes_late(void *unused) {
  qz_mutex_lock(&lock);
  units(60);
  qz_mutex_unlock(&lock);
  units(40);
  return unused;
}
/* 100 with the lock and 30, in parallel with 60 with it and 40: 200 one after the other, 130 if no thread had to wait.
 */
static void bound(void) {
  qz_thread_t late;
  qz_mutex_lock(&lock);
  if (qz_create(&late, NULL, comes_late, NULL)) exit(99);
  qz_yield();
  units(100);
  qz_mutex_unlock(&lock);
  units(30);
  qz_join(late, NULL);
}

/* Called where no thread begins: 300 and 200 alternately, 60 % of which are a's. Without a 200, at a half 350 of 500.
 */
static void calls(void) {
  for (int k = 0; k < 4; k++) {
    a(NULL);
    b(NULL);
  }
}

PROCEDURE static void more(void *unused) { units(3); }
PROCEDURE static void less(void *unused) { units(2); }
/* 3 in parallel with 2, again and again: a third of the span is more's alone. */
static void rounds(void) {
  for (int k = 0; k < 1000; k++) {
    qz_scope scope = {0};
    qz_spawn(&scope, more, NULL);
    qz_spawn(&scope, less, NULL);
    qz_sync(&scope);
  }
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  qz_mutex_init(&lock, "narrow", QZ_ADAPTIVE);
  if (!strcmp(which, "branches"))
    branches();
  else if (!strcmp(which, "nested"))
    nested();
  else if (!strcmp(which, "lock"))
    bound();
  else if (!strcmp(which, "calls"))
    calls();
  else if (!strcmp(which, "rounds"))
    rounds();
  else if (!strcmp(which, "never"))
    never(NULL);
  else
    return 2;
  return 0;
}
