/* "What if" of the thread package, each case by its name, of counted units: see ../what-if.test.ts, which computes the
 * answers from the pieces. */
#include <quartz/quartz.h>
#include <stdbool.h>
#define UNITS_ALONE
#include "pieces.h"

static qz_mutex lock;

/* Both called and started with. */
PROCEDURE static void a(void *unused) { piece('a', 300); }
PROCEDURE static void b(void *unused) { piece('b', 200); }
PROCEDURE static void never(void *unused) { units(1); }

/* 100 alone, 300 in parallel with 200, 50 alone: span 450. Without a: 350, without b: 450; a at 0.8: 390. */
static void branches(void) {
  piece('p', 100);
  qz_scope scope = {0};
  qz_spawn(&scope, a, NULL);
  qz_spawn(&scope, b, NULL);
  qz_sync(&scope);
  piece('s', 50);
}

#define INNER 100 /* units of the leaf in inner */
PROCEDURE static void leaf(void *argument) {
  long n = *(long *)argument;
  piece(n == INNER ? 'l' : 'o', (uint64_t)n);
}
PROCEDURE static void inner(void *unused) {
  long n = INNER;
  qz_scope scope = {0};
  qz_spawn(&scope, leaf, &n);
  piece('m', 40);
  qz_sync(&scope);
  piece('e', 60);
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
static bool comes;
static void *comes_late(void *unused) {
  __atomic_store_n(&comes, true, __ATOMIC_RELAXED);
  qz_mutex_lock(&lock);
  piece('c', 60);
  qz_mutex_unlock(&lock);
  piece('d', 40);
  return unused;
}
/* 100 with the lock and 30, in parallel with 60 with it and 40: 200 one after the other, 130 if no thread had to wait.
 */
static void bound(void) {
  qz_thread_t late;
  qz_mutex_lock(&lock);
  if (qz_create(&late, NULL, comes_late, NULL)) exit(99);
  while (!__atomic_load_n(&comes, __ATOMIC_RELAXED)) qz_yield();
  piece('h', 100);
  qz_mutex_unlock(&lock);
  piece('r', 30);
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

static uint64_t more_ns, less_ns;
PROCEDURE static void more(void *unused) { more_ns = piece('m', 3); }
PROCEDURE static void less(void *unused) { less_ns = piece('l', 2); }
/* 3 in parallel with 2, again and again: a third of the span is more's alone. As a piece: the longer of each round. */
static void rounds(void) {
  for (int k = 0; k < 1000; k++) {
    qz_scope scope = {0};
    qz_spawn(&scope, more, NULL);
    qz_spawn(&scope, less, NULL);
    qz_sync(&scope);
    pieces_ns['x' - 'a'] += more_ns > less_ns ? more_ns : less_ns;
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
  print_pieces();
  return 0;
}
