/* A tree search with a lock, in the spirit of Raytrace of Oyama, Taura, Yonezawa, "Online computation of critical paths
 * for multithreaded languages", whose threads take turns at one object: branch and bound for the knapsack problem. The
 * best value so far, and a count of what was looked at, are kept under a lock.
 *
 *   knapsack each|better     the lock is taken for each node; or only for one that is better than what is known
 */
#include <quartz/quartz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ITEMS  28
#define LEAVES 14 /* so many items and fewer are tried by one thread */

static struct item { int value, weight; } items[ITEMS];
static int capacity;
static int for_each;
static qz_mutex lock;
static int best;
static uint64_t looked_at;

struct node {
  int depth, value, weight;
};

/* No choice of the rest is worth more: by value for weight, with a part of the last one. */
static inline __attribute__((always_inline)) int bound(const struct node *node) {
  int left = capacity - node->weight, value = node->value;
  for (int k = node->depth; k < ITEMS; k++) {
    if (items[k].weight > left) return value + (int)((int64_t)items[k].value * left / items[k].weight) + 1;
    left -= items[k].weight;
    value += items[k].value;
  }
  return value;
}
/* Counts, and keeps what is better; the best so far. */
__attribute__((noinline)) static int compare(const struct node *node, uint64_t nodes) {
  if (!for_each && node->value <= __atomic_load_n(&best, __ATOMIC_RELAXED)) return best;
  qz_mutex_lock(&lock);
  looked_at += nodes;
  if (node->value > best) __atomic_store_n(&best, node->value, __ATOMIC_RELAXED);
  int is = best, promising = bound(node) > is;
  qz_mutex_unlock(&lock);
  return promising ? is : INT32_MAX;
}

static void search(void *argument) {
  const struct node *node = argument;
  if (node->weight > capacity || bound(node) <= __atomic_load_n(&best, __ATOMIC_RELAXED)) return;
  if (compare(node, 1) == INT32_MAX || node->depth == ITEMS) return;
  const struct item *item = &items[node->depth];
  struct node with = {node->depth + 1, node->value + item->value, node->weight + item->weight};
  struct node without = {node->depth + 1, node->value, node->weight};
  if (ITEMS - node->depth <= LEAVES) {
    search(&with);
    search(&without);
    return;
  }
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, search, &with);
  search(&without);
  qz_sync(&scope);
}

static int by_density(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  return y->value * x->weight - x->value * y->weight;
}

int main(int count, char **words) {
  if (count != 2 || (strcmp(words[1], "each") && strcmp(words[1], "better"))) {
    fprintf(stderr, "usage: knapsack each|better\n");
    return 2;
  }
  for_each = !strcmp(words[1], "each");
  uint32_t seed = 12345;
  for (int k = 0; k < ITEMS; k++) {
    seed = seed * 1664525 + 1013904223;
    items[k].weight = 2000 + (int)(seed >> 16) % 2000;
    seed = seed * 1664525 + 1013904223;
    items[k].value = items[k].weight + 300 + (int)(seed >> 16) % 10;
    capacity += items[k].weight;
  }
  capacity /= 2;
  qsort(items, ITEMS, sizeof *items, by_density);
  qz_mutex_init(&lock, "best", QZ_ADAPTIVE);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  struct node root = {0};
  search(&root);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("best %d of capacity %d, %llu nodes with the lock, in %.1f ms\n", best, capacity,
         (unsigned long long)looked_at,
         (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
  return 0;
}
