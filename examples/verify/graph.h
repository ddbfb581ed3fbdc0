/* The shared graph: both circuits as and-nodes with inverted edges, equal structure held once (structural hashing).
 * Written by create_cones() under the mutex "graph"; workers only read it, after the last cone has been made.
 * It must not know of gates, names or proofs.
 */
#ifndef VERIFY_GRAPH_H
#define VERIFY_GRAPH_H

#include <quartz/quartz.h>

/* A node and a sign: 2 * node + (1 if inverted). Node 0 is the constant false. */
typedef uint32_t literal;
#define LITERAL_FALSE ((literal)0)
#define LITERAL_TRUE  ((literal)1)
#define LITERAL_NONE  UINT32_MAX

struct node {
  literal left, right; /* left < right; an input has LITERAL_NONE and its number */
  uint32_t level;      /* longest way to an input */
};

struct graph {
  struct node *nodes;
  size_t count, capacity;
  uint32_t *table; /* node number, 0 where free */
  size_t slots;    /* a power of two */
  qz_mutex lock;
};

/* A graph with this many inputs, or NULL without memory. Input i is the literal 2 * (i + 1). */
struct graph *graph_create(size_t inputs);
void graph_free(struct graph *graph);
/* The literal of left and right. The caller holds the lock. LITERAL_NONE: out of memory. */
literal graph_and(struct graph *graph, literal left, literal right);

static inline int graph_is_input(const struct graph *graph, uint32_t node) {
  return graph->nodes[node].left == LITERAL_NONE;
}

#endif
