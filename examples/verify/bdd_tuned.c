/* The engine made fast: see bdd.h. Owns arrays that only grow and that serve one problem after another.
 *
 * A reference is 2 * vertex + (1 if inverted); vertex 0 is the constant true, so reference 0 is true and 1 is false.
 * The high edge of a vertex is never inverted, which makes references canonical.
 */
#include "bdd.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t edge;
#define EDGE_TRUE  ((edge)0)
#define EDGE_FALSE ((edge)1)
#define EDGE_NONE  UINT32_MAX

struct vertex {
  uint32_t variable;
  edge low, high;
  uint32_t chain; /* next vertex with the same hash, 0: none */
};

struct cached {
  edge left, right, result;
  uint32_t problem; /* valid if this is the manager's */
};

struct manager {
  struct vertex *vertices;
  size_t count, capacity, limit;
  uint32_t *unique;
  size_t unique_slots, unique_capacity;
  struct cached *cache;
  size_t cache_slots, cache_capacity;
  uint32_t problem;
};

enum { FIRST_SLOTS = 1024, MOST_CACHED = 1 << 18 };

static inline size_t hash_of(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t mixed =
    (((uint64_t)a << 32 | b) + (uint64_t)c * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(mixed >> 32);
}

/* Tables grow with the vertices, into memory that is kept for the next problem. */
static int grow(struct manager *manager) {
  size_t slots = manager->unique_slots * 2;
  if (slots > manager->unique_capacity) {
    uint32_t *unique = realloc(manager->unique, slots * sizeof *unique);
    if (!unique) return -1;
    manager->unique = unique;
    manager->unique_capacity = slots;
  }
  manager->unique_slots = slots;
  memset(manager->unique, 0, slots * sizeof *manager->unique);
  for (uint32_t i = 1; i < manager->count; i++) {
    struct vertex *vertex = &manager->vertices[i];
    size_t slot = hash_of(vertex->low, vertex->high, vertex->variable) & (slots - 1);
    vertex->chain = manager->unique[slot];
    manager->unique[slot] = i;
  }
  if (slots > MOST_CACHED) return 0;
  if (slots > manager->cache_capacity) {
    struct cached *cache = realloc(manager->cache, slots * sizeof *cache);
    if (!cache) return -1;
    memset(cache + manager->cache_capacity, 0, (slots - manager->cache_capacity) * sizeof *cache);
    manager->cache = cache;
    manager->cache_capacity = slots;
  }
  manager->cache_slots = slots;
  return 0;
}

static edge make_vertex(struct manager *manager, uint32_t variable, edge low, edge high) {
  if (low == high) return low;
  edge inverted = high & 1;
  low ^= inverted;
  high ^= inverted;
  size_t hash = hash_of(low, high, variable);
  for (uint32_t i = manager->unique[hash & (manager->unique_slots - 1)]; i; i = manager->vertices[i].chain) {
    const struct vertex *vertex = &manager->vertices[i];
    if (vertex->low == low && vertex->high == high && vertex->variable == variable) return i * 2 | inverted;
  }
  if (manager->count > manager->limit) return EDGE_NONE;
  if (manager->count == manager->capacity) {
    struct vertex *vertices = realloc(manager->vertices, manager->capacity * 2 * sizeof *vertices);
    if (!vertices) return EDGE_NONE;
    manager->vertices = vertices;
    manager->capacity *= 2;
  }
  if (manager->count > manager->unique_slots && grow(manager)) return EDGE_NONE;
  uint32_t made = (uint32_t)manager->count++;
  size_t slot = hash & (manager->unique_slots - 1);
  manager->vertices[made] = (struct vertex){variable, low, high, manager->unique[slot]};
  manager->unique[slot] = made;
  return made * 2 | inverted;
}

static edge conjoin(struct manager *manager, edge left, edge right) {
  if (left > right) {
    edge swap = left;
    left = right;
    right = swap;
  }
  if (left == EDGE_FALSE || left == (right ^ 1)) return EDGE_FALSE;
  if (left == EDGE_TRUE || left == right) return right;
  size_t hash = hash_of(left, right, 0);
  const struct cached *found = &manager->cache[hash & (manager->cache_slots - 1)];
  if (found->left == left && found->right == right && found->problem == manager->problem) return found->result;
  const struct vertex *a = &manager->vertices[left >> 1], *b = &manager->vertices[right >> 1];
  uint32_t top = a->variable < b->variable ? a->variable : b->variable;
  edge left_low = left, left_high = left, right_low = right, right_high = right;
  if (a->variable == top) {
    left_low = a->low ^ (left & 1);
    left_high = a->high ^ (left & 1);
  }
  if (b->variable == top) {
    right_low = b->low ^ (right & 1);
    right_high = b->high ^ (right & 1);
  }
  edge low = conjoin(manager, left_low, right_low);
  if (low == EDGE_NONE) return EDGE_NONE;
  edge high = conjoin(manager, left_high, right_high);
  if (high == EDGE_NONE) return EDGE_NONE;
  edge result = make_vertex(manager, top, low, high);
  if (result != EDGE_NONE)
    manager->cache[hash & (manager->cache_slots - 1)] = (struct cached){left, right, result, manager->problem};
  return result;
}

static bdd_ref reference(edge made) { return made == EDGE_NONE ? BDD_NONE : made; }

static int tuned_reset(void *opaque) {
  struct manager *manager = opaque;
  manager->count = 1;
  manager->unique_slots = manager->cache_slots = FIRST_SLOTS;
  memset(manager->unique, 0, FIRST_SLOTS * sizeof *manager->unique);
  if (++manager->problem == 0) {
    memset(manager->cache, 0, manager->cache_capacity * sizeof *manager->cache);
    manager->problem = 1;
  }
  return 0;
}

static void tuned_destroy(void *opaque) {
  struct manager *manager = opaque;
  if (!manager) return;
  free(manager->vertices);
  free(manager->unique);
  free(manager->cache);
  free(manager);
}

static void *tuned_create(struct pool *pool, size_t limit) {
  (void)pool;
  struct manager *manager = calloc(1, sizeof *manager);
  if (!manager) return NULL;
  manager->limit = limit < UINT32_MAX / 4 ? limit : UINT32_MAX / 4;
  manager->capacity = manager->unique_capacity = manager->cache_capacity = FIRST_SLOTS;
  manager->vertices = malloc(FIRST_SLOTS * sizeof *manager->vertices);
  manager->unique = malloc(FIRST_SLOTS * sizeof *manager->unique);
  manager->cache = calloc(FIRST_SLOTS, sizeof *manager->cache);
  if (!manager->vertices || !manager->unique || !manager->cache) {
    tuned_destroy(manager);
    return NULL;
  }
  manager->vertices[0] = (struct vertex){BDD_CONSTANT, EDGE_TRUE, EDGE_TRUE, 0};
  return manager;
}

static bdd_ref tuned_constant(void *opaque, int value) {
  (void)opaque;
  return value ? EDGE_TRUE : EDGE_FALSE;
}

static bdd_ref tuned_variable(void *opaque, uint32_t variable) {
  return reference(make_vertex(opaque, variable, EDGE_FALSE, EDGE_TRUE));
}

static bdd_ref tuned_negate(void *opaque, bdd_ref function) {
  (void)opaque;
  return function ^ 1;
}

static bdd_ref tuned_conjoin(void *opaque, bdd_ref left, bdd_ref right) {
  return reference(conjoin(opaque, (edge)left, (edge)right));
}

static void tuned_split(void *opaque, bdd_ref function, uint32_t *variable, bdd_ref *low, bdd_ref *high) {
  const struct vertex *vertex = &((struct manager *)opaque)->vertices[function >> 1];
  *variable = vertex->variable;
  *low = vertex->low ^ (function & 1);
  *high = vertex->high ^ (function & 1);
}

static size_t tuned_nodes(void *opaque) { return ((struct manager *)opaque)->count - 1; }

const struct bdd_engine bdd_tuned = {
  "tuned",        tuned_create, tuned_destroy, tuned_reset, tuned_constant,
  tuned_variable, tuned_negate, tuned_conjoin, tuned_split, tuned_nodes,
};
