/* See graph.h. */
#include "graph.h"

#include <stdlib.h>

static uint32_t hash_pair(literal left, literal right) {
  uint64_t mixed = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32);
}

struct graph *graph_create(size_t inputs) {
  struct graph *graph = calloc(1, sizeof *graph);
  if (!graph) return NULL;
  graph->capacity = inputs + 1024;
  graph->slots = 1024;
  graph->nodes = malloc(graph->capacity * sizeof *graph->nodes);
  graph->table = calloc(graph->slots, sizeof *graph->table);
  if (!graph->nodes || !graph->table || qz_mutex_init(&graph->lock, "graph", QZ_ADAPTIVE)) {
    free(graph->nodes);
    free(graph->table);
    free(graph);
    return NULL;
  }
  graph->nodes[0] = (struct node){LITERAL_FALSE, LITERAL_FALSE, 0};
  for (size_t i = 0; i < inputs; i++) graph->nodes[i + 1] = (struct node){LITERAL_NONE, (literal)i, 0};
  graph->count = inputs + 1;
  return graph;
}

void graph_free(struct graph *graph) {
  if (!graph) return;
  qz_mutex_destroy(&graph->lock);
  free(graph->nodes);
  free(graph->table);
  free(graph);
}

static int grow_table(struct graph *graph) {
  size_t slots = graph->slots * 2;
  uint32_t *table = calloc(slots, sizeof *table);
  if (!table) return -1;
  for (size_t i = 0; i < graph->slots; i++) {
    uint32_t node = graph->table[i];
    if (!node) continue;
    size_t slot = hash_pair(graph->nodes[node].left, graph->nodes[node].right) & (slots - 1);
    while (table[slot]) slot = (slot + 1) & (slots - 1);
    table[slot] = node;
  }
  free(graph->table);
  graph->table = table;
  graph->slots = slots;
  return 0;
}

static int grow_nodes(struct graph *graph) {
  if (graph->count < graph->capacity) return 0;
  size_t capacity = graph->capacity * 2;
  struct node *nodes = capacity < LITERAL_NONE / 2 ? realloc(graph->nodes, capacity * sizeof *nodes) : NULL;
  if (!nodes) return -1;
  graph->nodes = nodes;
  graph->capacity = capacity;
  return 0;
}

literal graph_and(struct graph *graph, literal left, literal right) {
  if (left > right) {
    literal swap = left;
    left = right;
    right = swap;
  }
  if (left == LITERAL_FALSE || left == (right ^ 1)) return LITERAL_FALSE;
  if (left == LITERAL_TRUE || left == right) return right;
  if (graph->count * 2 > graph->slots && grow_table(graph)) return LITERAL_NONE;
  size_t slot = hash_pair(left, right) & (graph->slots - 1);
  for (; graph->table[slot]; slot = (slot + 1) & (graph->slots - 1)) {
    const struct node *node = &graph->nodes[graph->table[slot]];
    if (node->left == left && node->right == right) return graph->table[slot] * 2;
  }
  if (grow_nodes(graph)) return LITERAL_NONE;
  uint32_t level_left = graph->nodes[left / 2].level, level_right = graph->nodes[right / 2].level;
  uint32_t node = (uint32_t)graph->count++;
  graph->nodes[node] = (struct node){left, right, 1 + (level_left > level_right ? level_left : level_right)};
  graph->table[slot] = node;
  return node * 2;
}
