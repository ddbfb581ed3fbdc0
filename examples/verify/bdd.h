/* Binary decision diagrams: one interface, two engines. Equal functions of one manager have equal references.
 * A manager belongs to one worker; what managers share is the block pool (pool.h).
 */
#ifndef VERIFY_BDD_H
#define VERIFY_BDD_H

#include <stddef.h>
#include <stdint.h>

#include "pool.h"

typedef uintptr_t bdd_ref;
#define BDD_NONE     UINTPTR_MAX /* the limit of nodes, or of memory, has been reached */
#define BDD_CONSTANT UINT32_MAX  /* "variable" of the constants */

struct bdd_engine {
  const char *name;
  /* A manager that makes at most limit nodes for each problem. NULL: out of memory. */
  void *(*create)(struct pool *pool, size_t limit);
  void (*destroy)(void *manager);
  /* Forgets all functions. 0, or -1 without memory. */
  int (*reset)(void *manager);
  bdd_ref (*constant)(void *manager, int value);
  bdd_ref (*variable)(void *manager, uint32_t variable); /* 0 is tested first */
  bdd_ref (*negate)(void *manager, bdd_ref function);
  bdd_ref (*conjoin)(void *manager, bdd_ref left, bdd_ref right);
  /* First variable that a function tests, and its two cofactors. */
  void (*split)(void *manager, bdd_ref function, uint32_t *variable, bdd_ref *low, bdd_ref *high);
  size_t (*nodes)(void *manager); /* made since reset */
};

/* Textbook: if-then-else with a complete memo, both in chained hash tables of blocks from the pool. */
extern const struct bdd_engine bdd_plain;
/* Complement edges, a conjunction of its own, a lossy cache, tables that stay with the worker. */
extern const struct bdd_engine bdd_tuned;

#endif
