/* See prove.h. Owns: the cone of the present pair, its variables, and the diagrams of its nodes. */
#include "prove.h"

#include <stdlib.h>
#include <string.h>

enum { SIMULATION_ROUNDS = 4 };

struct prover {
  const struct graph *graph;
  const struct bdd_engine *engine;
  void *manager;
  size_t input_count;
  uint32_t *mark;  /* per node: the present pair's number if the node is in the cone */
  uint32_t *place; /* per node in the cone: its place in cone */
  uint32_t pair;
  uint32_t *cone; /* nodes, fan-ins first */
  size_t cone_count;
  uint32_t *support; /* inputs of the cone (places), in the order in which diagrams test them */
  size_t support_count;
  struct visit {
    uint32_t node, next;
  } * stack;
  uint64_t *words;   /* per place: values in simulation */
  bdd_ref *diagrams; /* per place */
};

struct prover *prover_create(const struct graph *graph, size_t inputs, const struct bdd_engine *engine,
                             struct pool *pool, size_t limit) {
  struct prover *prover = calloc(1, sizeof *prover);
  if (!prover) return NULL;
  prover->graph = graph;
  prover->engine = engine;
  prover->input_count = inputs;
  prover->manager = engine->create(pool, limit);
  prover->mark = calloc(graph->count, sizeof *prover->mark);
  prover->place = malloc(graph->count * sizeof *prover->place);
  prover->cone = malloc(graph->count * sizeof *prover->cone);
  prover->support = malloc(graph->count * sizeof *prover->support);
  prover->stack = malloc(graph->count * sizeof *prover->stack);
  prover->words = malloc(graph->count * sizeof *prover->words);
  prover->diagrams = malloc(graph->count * sizeof *prover->diagrams);
  if (prover->manager && prover->mark && prover->place && prover->cone && prover->support && prover->stack &&
      prover->words && prover->diagrams)
    return prover;
  prover_free(prover);
  return NULL;
}

void prover_free(struct prover *prover) {
  if (!prover) return;
  prover->engine->destroy(prover->manager);
  free(prover->mark);
  free(prover->place);
  free(prover->cone);
  free(prover->support);
  free(prover->stack);
  free(prover->words);
  free(prover->diagrams);
  free(prover);
}

static void visit(struct prover *prover, uint32_t node, size_t *depth) {
  if (prover->mark[node] == prover->pair) return;
  prover->mark[node] = prover->pair;
  prover->stack[(*depth)++] = (struct visit){node, 0};
}

/* Fan-ins first, the deeper one before the other: inputs that meet deep in the circuit get neighbouring places, which
 * is a good order of variables for most arithmetic. */
static void collect_cone(struct prover *prover, literal root) {
  const struct graph *graph = prover->graph;
  size_t depth = 0;
  visit(prover, root / 2, &depth);
  while (depth) {
    struct visit *top = &prover->stack[depth - 1];
    uint32_t number = top->node;
    const struct node *node = &graph->nodes[number];
    int leaf = number == 0 || graph_is_input(graph, number);
    if (!leaf && top->next < 2) {
      int left_deeper = graph->nodes[node->left / 2].level >= graph->nodes[node->right / 2].level;
      literal fanin = (top->next++ == 0) == left_deeper ? node->left : node->right;
      visit(prover, fanin / 2, &depth);
      continue;
    }
    prover->place[number] = (uint32_t)prover->cone_count;
    if (number && leaf) prover->support[prover->support_count++] = (uint32_t)prover->cone_count;
    prover->cone[prover->cone_count++] = number;
    depth--;
  }
}

static uint64_t random_word(uint64_t *state) {
  uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}

static uint64_t word_of(const struct prover *prover, literal of) {
  return prover->words[prover->place[of / 2]] ^ (of & 1 ? ~UINT64_C(0) : 0);
}

/* 64 random evaluations; a word with a one for each in which the two literals differ. */
static uint64_t simulate_cone(struct prover *prover, literal left, literal right, uint64_t *state) {
  for (size_t i = 0; i < prover->cone_count; i++) {
    uint32_t number = prover->cone[i];
    const struct node *node = &prover->graph->nodes[number];
    if (number == 0)
      prover->words[i] = 0;
    else if (graph_is_input(prover->graph, number))
      prover->words[i] = random_word(state);
    else
      prover->words[i] = word_of(prover, node->left) & word_of(prover, node->right);
  }
  return word_of(prover, left) ^ word_of(prover, right);
}

/* Input of the graph at a place of the cone. */
static uint32_t input_at(const struct prover *prover, uint32_t place) {
  return prover->graph->nodes[prover->cone[place]].right;
}

static int different_by_simulation(struct prover *prover, literal left, literal right, struct proof *proof) {
  uint64_t state = ((uint64_t)left << 32 | right);
  for (int round = 0; round < SIMULATION_ROUNDS; round++) {
    uint64_t difference = simulate_cone(prover, left, right, &state);
    if (!difference) continue;
    proof->inputs = calloc(prover->input_count + 1, 1);
    if (!proof->inputs) return 0;
    unsigned bit = (unsigned)__builtin_ctzll(difference);
    for (size_t i = 0; i < prover->support_count; i++)
      proof->inputs[input_at(prover, prover->support[i])] = prover->words[prover->support[i]] >> bit & 1;
    return 1;
  }
  return 0;
}

static bdd_ref diagram_of(struct prover *prover, literal of) {
  bdd_ref diagram = prover->diagrams[prover->place[of / 2]];
  return of & 1 && diagram != BDD_NONE ? prover->engine->negate(prover->manager, diagram) : diagram;
}

/* Diagrams for all nodes of the cone. reversed: inputs tested in the opposite order. 0, or -1 at the limit. */
static int build_diagrams(struct prover *prover, int reversed) {
  const struct bdd_engine *engine = prover->engine;
  if (engine->reset(prover->manager)) return -1;
  for (size_t i = 0; i < prover->support_count; i++)
    prover->diagrams[prover->support[i]] =
      engine->variable(prover->manager, (uint32_t)(reversed ? prover->support_count - 1 - i : i));
  for (size_t i = 0; i < prover->cone_count; i++) {
    uint32_t number = prover->cone[i];
    const struct node *node = &prover->graph->nodes[number];
    if (number == 0)
      prover->diagrams[i] = engine->constant(prover->manager, 0);
    else if (!graph_is_input(prover->graph, number)) {
      bdd_ref left = diagram_of(prover, node->left), right = diagram_of(prover, node->right);
      if (left == BDD_NONE || right == BDD_NONE) return -1;
      prover->diagrams[i] = engine->conjoin(prover->manager, left, right);
    }
    if (prover->diagrams[i] == BDD_NONE) return -1;
  }
  return 0;
}

/* Follows two different functions to a difference: one pair of cofactors must differ, since equal ones are one. */
static int find_difference(struct prover *prover, bdd_ref left, bdd_ref right, int reversed, struct proof *proof) {
  proof->inputs = calloc(prover->input_count + 1, 1);
  if (!proof->inputs) return -1;
  for (;;) {
    uint32_t left_variable, right_variable;
    bdd_ref left_low, left_high, right_low, right_high;
    prover->engine->split(prover->manager, left, &left_variable, &left_low, &left_high);
    prover->engine->split(prover->manager, right, &right_variable, &right_low, &right_high);
    uint32_t top = left_variable < right_variable ? left_variable : right_variable;
    if (top == BDD_CONSTANT) return 0;
    if (left_variable != top) left_low = left_high = left;
    if (right_variable != top) right_low = right_high = right;
    int value = left_low == right_low;
    left = value ? left_high : left_low;
    right = value ? right_high : right_low;
    size_t position = reversed ? prover->support_count - 1 - top : top;
    proof->inputs[input_at(prover, prover->support[position])] = (uint8_t)value;
  }
}

struct proof prove_pair(struct prover *prover, literal left, literal right) {
  struct proof proof = {VERDICT_UNDECIDED, METHOD_LIMIT, 0, NULL};
  if (left == right) return (struct proof){VERDICT_EQUAL, METHOD_STRUCTURE, 0, NULL};
  prover->cone_count = prover->support_count = 0;
  if (++prover->pair == 0) {
    memset(prover->mark, 0, prover->graph->count * sizeof *prover->mark);
    prover->pair = 1;
  }
  collect_cone(prover, left);
  collect_cone(prover, right);
  if (different_by_simulation(prover, left, right, &proof)) {
    proof.verdict = VERDICT_DIFFERENT;
    proof.method = METHOD_SIMULATION;
    return proof;
  }
  for (int reversed = 0; reversed < 2; reversed++) {
    int status = build_diagrams(prover, reversed);
    bdd_ref left_diagram = status ? BDD_NONE : diagram_of(prover, left);
    bdd_ref right_diagram = status ? BDD_NONE : diagram_of(prover, right);
    proof.nodes += prover->engine->nodes(prover->manager);
    if (left_diagram == BDD_NONE || right_diagram == BDD_NONE) continue;
    if (left_diagram == right_diagram)
      proof.verdict = VERDICT_EQUAL;
    else if (find_difference(prover, left_diagram, right_diagram, reversed, &proof) == 0)
      proof.verdict = VERDICT_DIFFERENT;
    else
      break;
    proof.method = METHOD_DIAGRAM;
    break;
  }
  return proof;
}

const char *method_name(enum method method) {
  static const char *const names[METHODS] = {"structure", "simulation", "decision diagram", "limit reached"};
  return names[method];
}
