/* Graphs of strands of the thread package. The program itself counts their work and span in units and prints both: see
 * ../shapes.test.ts. */
#include <quartz/quartz.h>
#include <stdbool.h>
#define UNITS_ALONE
/* Multiplications in a unit, which takes 2 to 4 us: on some virtual machines a page fault takes 15 us, an interrupt as
 * much. A program has some 60 faults, and is interrupted up to 2,000 times a second while it is recorded. */
#define ROUND UINT64_C(2000)
#include "units.h"

static uint64_t work_units, span_units;
static void expect(uint64_t work, uint64_t span) {
  work_units = work;
  span_units = span;
}

/* ---- a random graph of spawned calls ---- */

#define MOST_CHILDREN 4
struct node {
  uint64_t before, after, between[MOST_CHILDREN], work, span;
  unsigned children;
  struct node *child[MOST_CHILDREN];
};
static uint64_t seed;
static uint64_t up_to(uint64_t most) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed % most;
}
static struct node *make(unsigned depth, uint64_t most) {
  struct node *node = calloc(1, sizeof *node);
  if (!node) exit(99);
  *node = (struct node){.before = 1 + up_to(most), .after = 1 + up_to(most)};
  if (depth) node->children = 1 + (unsigned)up_to(MOST_CHILDREN);
  uint64_t own = node->before, longest = 0;
  node->work = node->before + node->after;
  for (unsigned k = 0; k < node->children; k++) {
    node->child[k] = make(depth - 1, most);
    node->between[k] = 1 + up_to(most);
    if (own + node->child[k]->span > longest) longest = own + node->child[k]->span;
    own += node->between[k];
    node->work += node->child[k]->work + node->between[k];
  }
  node->span = (own > longest ? own : longest) + node->after;
  return node;
}
static void visit(void *argument) {
  struct node *node = argument;
  units(node->before);
  qz_scope scope = QZ_SCOPE_INIT;
  for (unsigned k = 0; k < node->children; k++) {
    qz_spawn(&scope, visit, node->child[k]);
    units(node->between[k]);
  }
  qz_sync(&scope);
  units(node->after);
}
static void graph(const char *number) {
  seed = strtoull(number, NULL, 10) * 7919 + 1;
  struct node *root = make(5, 400);
  expect(root->work, root->span);
  visit(root);
}

/* ---- short strands, one of which now and then takes long, as when an interrupt hits it ---- */

#define CALLS  18
#define ROUNDS 400
#define USUAL  20
#define HICCUP 1000
#define RARE   1000 /* one call of so many */
static void call(void *argument) { units((uint64_t)(uintptr_t)argument); }
static void hiccups(void) {
  uint64_t number = 0, hits = 0;
  for (int round = 0; round < ROUNDS; round++) {
    units(USUAL);
    qz_scope scope = QZ_SCOPE_INIT;
    for (int k = 0; k < CALLS; k++) {
      bool is_hit = ++number % RARE == 0;
      hits += is_hit;
      qz_spawn(&scope, call, (void *)(uintptr_t)(is_hit ? HICCUP : USUAL));
    }
    qz_sync(&scope);
  }
  /* No two of them are in the same round. */
  expect(ROUNDS * (1 + CALLS) * USUAL + hits * (HICCUP - USUAL), ROUNDS * 2 * USUAL + hits * (HICCUP - USUAL));
}

/* ---- one at a time ---- */

static void *does(void *argument) {
  units((uint64_t)(uintptr_t)argument);
  return NULL;
}
static qz_thread_t create(uint64_t count) {
  qz_thread_t thread;
  if (qz_create(&thread, NULL, does, (void *)(uintptr_t)count)) exit(99);
  return thread;
}
/* Joined long after it has ended. */
static void ended(void) {
  units(10000);
  qz_thread_t thread = create(30000);
  units(60000);
  qz_join(thread, NULL);
  expect(100000, 70000);
}
/* The spawned call continues on another processor, if there is one, when its parent has done its own part. */
static void stolen(void) {
  for (int k = 0; k < 20; k++) {
    units(500);
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, call, (void *)(uintptr_t)5000);
    units(1500);
    qz_sync(&scope);
    units(500);
  }
  expect(20 * 7500, 20 * 6000);
}
/* A spawned call that does not return. */
static void leaves(void *argument) {
  units((uint64_t)(uintptr_t)argument);
  if (argument) qz_exit(NULL);
  units(1000000);
}
static void left(void) {
  for (int k = 0; k < 20; k++) {
    units(1000);
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, leaves, (void *)(uintptr_t)4000);
    qz_spawn(&scope, leaves, (void *)(uintptr_t)2000);
    units(1000);
    qz_sync(&scope);
  }
  expect(20 * 8000, 20 * 5000);
}

static qz_barrier round_ends;
static void *comes(void *argument) {
  for (int k = 0; k < 40; k++) {
    units((uint64_t)(uintptr_t)argument);
    qz_barrier_wait(&round_ends);
  }
  return NULL;
}
/* Seven wait for the eighth. */
static void late(void) {
  qz_thread_t threads[8];
  qz_barrier_init(&round_ends, "round", 8, QZ_BLOCK);
  for (int k = 0; k < 8; k++)
    if (qz_create(&threads[k], NULL, comes, (void *)(uintptr_t)(k == 5 ? 2000 : 300))) exit(99);
  for (int k = 0; k < 8; k++) qz_join(threads[k], NULL);
  expect(40 * (2000 + 7 * 300), 40 * 2000);
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  if (!strcmp(which, "graph") && count > 2) {
    graph(words[2]);
  } else if (!strcmp(which, "hiccups")) {
    hiccups();
  } else if (!strcmp(which, "ended")) {
    ended();
  } else if (!strcmp(which, "stolen")) {
    stolen();
  } else if (!strcmp(which, "left")) {
    left();
  } else if (!strcmp(which, "late")) {
    late();
  } else {
    return 2;
  }
  printf("%llu %llu\n", (unsigned long long)work_units, (unsigned long long)span_units);
  return 0;
}
