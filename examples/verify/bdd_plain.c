/* The engine of the textbook: see bdd.h. Owns its nodes and memo entries, in blocks of the shared pool. */
#include "bdd.h"

#include <stdlib.h>
#include <string.h>

struct vertex {
  struct vertex *low, *high, *chain;
  uint32_t variable;
};

struct memo {
  struct vertex *test, *then, *otherwise, *result;
  struct memo *chain;
};

struct manager {
  struct pool *pool;
  struct pool_block *blocks;
  size_t block_used; /* bytes of the first block */
  struct vertex zero, one;
  struct vertex **unique;
  size_t unique_slots, vertices;
  struct memo **memos;
  size_t memo_slots, memo_count;
  size_t limit;
};

enum { FIRST_SLOTS = 256, MEMOS_PER_VERTEX = 8 };

static size_t hash_of(uintptr_t a, uintptr_t b, uintptr_t c) {
  uint64_t mixed = (a >> 3) * UINT64_C(0x9e3779b97f4a7c15) + (b >> 3) * UINT64_C(0xc2b2ae3d27d4eb4f) +
                   c * UINT64_C(0x165667b19e3779f9);
  return (size_t)(mixed >> 20);
}

static void *allocate(struct manager *manager, size_t bytes) {
  if (!manager->blocks || manager->block_used + bytes > sizeof manager->blocks->data) {
    struct pool_block *block = pool_take(manager->pool);
    if (!block) return NULL;
    block->next = manager->blocks;
    manager->blocks = block;
    manager->block_used = 0;
  }
  void *memory = (char *)manager->blocks->data + manager->block_used;
  manager->block_used += bytes;
  return memory;
}

static int grow_unique(struct manager *manager) {
  size_t slots = manager->unique_slots * 2;
  struct vertex **table = calloc(slots, sizeof *table);
  if (!table) return -1;
  for (size_t i = 0; i < manager->unique_slots; i++)
    for (struct vertex *vertex = manager->unique[i], *next; vertex; vertex = next) {
      next = vertex->chain;
      size_t slot = hash_of((uintptr_t)vertex->low, (uintptr_t)vertex->high, vertex->variable) & (slots - 1);
      vertex->chain = table[slot];
      table[slot] = vertex;
    }
  free(manager->unique);
  manager->unique = table;
  manager->unique_slots = slots;
  return 0;
}

static int grow_memos(struct manager *manager) {
  size_t slots = manager->memo_slots * 2;
  struct memo **table = calloc(slots, sizeof *table);
  if (!table) return -1;
  for (size_t i = 0; i < manager->memo_slots; i++)
    for (struct memo *memo = manager->memos[i], *next; memo; memo = next) {
      next = memo->chain;
      size_t slot = hash_of((uintptr_t)memo->test, (uintptr_t)memo->then, (uintptr_t)memo->otherwise) & (slots - 1);
      memo->chain = table[slot];
      table[slot] = memo;
    }
  free(manager->memos);
  manager->memos = table;
  manager->memo_slots = slots;
  return 0;
}

static struct vertex *make_vertex(struct manager *manager, uint32_t variable, struct vertex *low, struct vertex *high) {
  if (low == high) return low;
  size_t hash = hash_of((uintptr_t)low, (uintptr_t)high, variable);
  for (struct vertex *vertex = manager->unique[hash & (manager->unique_slots - 1)]; vertex; vertex = vertex->chain)
    if (vertex->variable == variable && vertex->low == low && vertex->high == high) return vertex;
  if (manager->vertices >= manager->limit) return NULL;
  if (manager->vertices >= manager->unique_slots * 2 && grow_unique(manager)) return NULL;
  struct vertex *vertex = allocate(manager, sizeof *vertex);
  if (!vertex) return NULL;
  size_t slot = hash & (manager->unique_slots - 1);
  *vertex = (struct vertex){low, high, manager->unique[slot], variable};
  manager->unique[slot] = vertex;
  manager->vertices++;
  return vertex;
}

static struct vertex *recall(const struct manager *manager, struct vertex *test, struct vertex *then,
                             struct vertex *otherwise) {
  size_t hash = hash_of((uintptr_t)test, (uintptr_t)then, (uintptr_t)otherwise);
  for (struct memo *memo = manager->memos[hash & (manager->memo_slots - 1)]; memo; memo = memo->chain)
    if (memo->test == test && memo->then == then && memo->otherwise == otherwise) return memo->result;
  return NULL;
}

static int remember(struct manager *manager, struct vertex *test, struct vertex *then, struct vertex *otherwise,
                    struct vertex *result) {
  if (manager->memo_count >= manager->limit * MEMOS_PER_VERTEX) return -1;
  if (manager->memo_count >= manager->memo_slots * 2 && grow_memos(manager)) return -1;
  struct memo *memo = allocate(manager, sizeof *memo);
  if (!memo) return -1;
  size_t slot = hash_of((uintptr_t)test, (uintptr_t)then, (uintptr_t)otherwise) & (manager->memo_slots - 1);
  *memo = (struct memo){test, then, otherwise, result, manager->memos[slot]};
  manager->memos[slot] = memo;
  manager->memo_count++;
  return 0;
}

/* if test then a else b, variable by variable; NULL at the limit. */
static struct vertex *if_then_else(struct manager *manager, struct vertex *test, struct vertex *then,
                                   struct vertex *otherwise) {
  if (test == &manager->one) return then;
  if (test == &manager->zero) return otherwise;
  if (then == otherwise) return then;
  if (then == &manager->one && otherwise == &manager->zero) return test;
  struct vertex *result = recall(manager, test, then, otherwise);
  if (result) return result;
  uint32_t top = test->variable;
  if (then->variable < top) top = then->variable;
  if (otherwise->variable < top) top = otherwise->variable;
  struct vertex *low =
    if_then_else(manager, test->variable == top ? test->low : test, then->variable == top ? then->low : then,
                 otherwise->variable == top ? otherwise->low : otherwise);
  if (!low) return NULL;
  struct vertex *high =
    if_then_else(manager, test->variable == top ? test->high : test, then->variable == top ? then->high : then,
                 otherwise->variable == top ? otherwise->high : otherwise);
  if (!high) return NULL;
  result = make_vertex(manager, top, low, high);
  if (!result || remember(manager, test, then, otherwise, result)) return NULL;
  return result;
}

static bdd_ref reference(struct vertex *vertex) { return vertex ? (bdd_ref)vertex : BDD_NONE; }

static int plain_reset(void *opaque) {
  struct manager *manager = opaque;
  pool_give(manager->pool, manager->blocks);
  manager->blocks = NULL;
  free(manager->unique);
  free(manager->memos);
  manager->unique = calloc(FIRST_SLOTS, sizeof *manager->unique);
  manager->memos = calloc(FIRST_SLOTS, sizeof *manager->memos);
  manager->unique_slots = manager->memo_slots = FIRST_SLOTS;
  manager->vertices = manager->memo_count = 0;
  return manager->unique && manager->memos ? 0 : -1;
}

static void plain_destroy(void *opaque) {
  struct manager *manager = opaque;
  if (!manager) return;
  pool_give(manager->pool, manager->blocks);
  free(manager->unique);
  free(manager->memos);
  free(manager);
}

static void *plain_create(struct pool *pool, size_t limit) {
  struct manager *manager = calloc(1, sizeof *manager);
  if (!manager) return NULL;
  manager->pool = pool;
  manager->limit = limit;
  manager->zero.variable = manager->one.variable = BDD_CONSTANT;
  return manager;
}

static bdd_ref plain_constant(void *opaque, int value) {
  struct manager *manager = opaque;
  return reference(value ? &manager->one : &manager->zero);
}

static bdd_ref plain_variable(void *opaque, uint32_t variable) {
  struct manager *manager = opaque;
  return reference(make_vertex(manager, variable, &manager->zero, &manager->one));
}

static bdd_ref plain_negate(void *opaque, bdd_ref function) {
  struct manager *manager = opaque;
  return reference(if_then_else(manager, (struct vertex *)function, &manager->zero, &manager->one));
}

static bdd_ref plain_conjoin(void *opaque, bdd_ref left, bdd_ref right) {
  struct manager *manager = opaque;
  return reference(if_then_else(manager, (struct vertex *)left, (struct vertex *)right, &manager->zero));
}

static void plain_split(void *opaque, bdd_ref function, uint32_t *variable, bdd_ref *low, bdd_ref *high) {
  (void)opaque;
  const struct vertex *vertex = (struct vertex *)function;
  *variable = vertex->variable;
  *low = (bdd_ref)vertex->low;
  *high = (bdd_ref)vertex->high;
}

static size_t plain_nodes(void *opaque) { return ((struct manager *)opaque)->vertices; }

const struct bdd_engine bdd_plain = {
  "plain",        plain_create, plain_destroy, plain_reset, plain_constant,
  plain_variable, plain_negate, plain_conjoin, plain_split, plain_nodes,
};
