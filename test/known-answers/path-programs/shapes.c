/* Graphs of strands of the thread package. The program itself adds up their work and span, in units and in processor
 * time, and prints all four: see ../shapes.test.ts. */
#include <quartz/quartz.h>
#include <stdbool.h>
#define UNITS_ALONE
/* Multiplications in a unit, which takes 2 to 4 us: on some virtual machines a page fault takes 15 us, an interrupt as
 * much. A program has some 60 faults, and is interrupted up to 2,000 times a second while it is recorded. */
#define ROUND UINT64_C(2000)
#include "parts.h"

/* ---- a random graph of spawned calls ---- */

#define MOST_CHILDREN 4
struct node {
  struct part before, after, between[MOST_CHILDREN];
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
  node->before = of(1 + up_to(most));
  node->after = of(1 + up_to(most));
  if (depth) node->children = 1 + (unsigned)up_to(MOST_CHILDREN);
  for (unsigned k = 0; k < node->children; k++) {
    node->child[k] = make(depth - 1, most);
    node->between[k] = of(1 + up_to(most));
  }
  return node;
}
static void visit(void *argument) {
  struct node *node = argument;
  execute(&node->before);
  qz_scope scope = QZ_SCOPE_INIT;
  for (unsigned k = 0; k < node->children; k++) {
    qz_spawn(&scope, visit, node->child[k]);
    execute(&node->between[k]);
  }
  qz_sync(&scope);
  execute(&node->after);
}
/* Adds the node's work, and returns its span. */
static uint64_t add_up(const struct node *node, int kind) {
  uint64_t own = node->before.is[kind], longest = 0;
  for (unsigned k = 0; k < node->children; k++) {
    longest = longer(longest, own + add_up(node->child[k], kind));
    own += node->between[k].is[kind];
  }
  work[kind] += own + node->after.is[kind];
  return longer(own, longest) + node->after.is[kind];
}
static void graph(const char *number) {
  seed = strtoull(number, NULL, 10) * 7919 + 1;
  struct node *root = make(5, 1200); /* long parts beside new stacks and cold caches, which strands contain */
  visit(root);
  for (int kind = 0; kind < KINDS; kind++) span[kind] = add_up(root, kind);
}

/* ---- short strands, one of which now and then takes long, as when an interrupt hits it ---- */

#define CALLS  18
#define ROUNDS 400
#define USUAL  20
#define HICCUP 1000
#define RARE   1000 /* one call of so many; no two of them are in the same round */
static void call(void *part) { execute(part); }
static void hiccups(void) {
  uint64_t number = 0;
  for (int round = 0; round < ROUNDS; round++) {
    struct part own = of(USUAL), calls[CALLS];
    execute(&own);
    qz_scope scope = QZ_SCOPE_INIT;
    for (int k = 0; k < CALLS; k++) {
      calls[k] = of(++number % RARE == 0 ? HICCUP : USUAL);
      qz_spawn(&scope, call, &calls[k]);
    }
    qz_sync(&scope);
    add(&own);
    add_beside(calls, CALLS);
  }
}

/* ---- one at a time ---- */

static void *does(void *part) {
  execute(part);
  return NULL;
}
/* Joined long after it has ended. */
static void ended(void) {
  struct part first = of(10000), both[] = {of(30000), of(60000)};
  execute(&first);
  qz_thread_t thread;
  if (qz_create(&thread, NULL, does, &both[0])) exit(99);
  execute(&both[1]);
  qz_join(thread, NULL);
  add(&first);
  add_beside(both, 2);
}
/* The spawned call continues on another processor, if there is one, when its parent has done its own part. */
static void stolen(void) {
  for (int k = 0; k < 20; k++) {
    struct part first = of(500), both[] = {of(5000), of(1500)}, last = of(500);
    execute(&first);
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, call, &both[0]);
    execute(&both[1]);
    qz_sync(&scope);
    execute(&last);
    add(&first);
    add_beside(both, 2);
    add(&last);
  }
}
/* A spawned call that does not return. */
static void leaves(void *part) {
  execute(part);
  if (part) qz_exit(NULL);
  units(1000000);
}
static void left(void) {
  for (int k = 0; k < 20; k++) {
    struct part first = of(1000), all[] = {of(4000), of(2000), of(1000)};
    execute(&first);
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, leaves, &all[0]);
    qz_spawn(&scope, leaves, &all[1]);
    execute(&all[2]);
    qz_sync(&scope);
    add(&first);
    add_beside(all, 3);
  }
}

/* Seven wait for the eighth. */
#define MEET 8
static qz_barrier round_ends;
static struct part meetings[40][MEET];
static void *comes(void *argument) {
  for (int k = 0; k < 40; k++) {
    execute(&meetings[k][(uintptr_t)argument]);
    qz_barrier_wait(&round_ends);
  }
  return NULL;
}
static void late(void) {
  qz_thread_t threads[MEET];
  for (int k = 0; k < 40; k++)
    for (int n = 0; n < MEET; n++) meetings[k][n] = of(n == 5 ? 2000 : 300);
  qz_barrier_init(&round_ends, "round", MEET, QZ_BLOCK);
  for (uintptr_t n = 0; n < MEET; n++)
    if (qz_create(&threads[n], NULL, comes, (void *)n)) exit(99);
  for (int n = 0; n < MEET; n++) qz_join(threads[n], NULL);
  for (int k = 0; k < 40; k++) add_beside(meetings[k], MEET);
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
  print_sums();
  return 0;
}
