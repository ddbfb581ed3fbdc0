/* See cone.h. */
#include "cone.h"

#include <stdlib.h>

struct builder {
  struct graph *graph;
  struct cones *cones;
  struct trace *trace;
  struct visit {
    uint32_t gate, next;
  } * stack;
};

static literal make_xor(struct graph *graph, literal a, literal b) {
  literal only_a = graph_and(graph, a, b ^ 1), only_b = graph_and(graph, a ^ 1, b);
  if (only_a == LITERAL_NONE || only_b == LITERAL_NONE) return LITERAL_NONE;
  literal neither = graph_and(graph, only_a ^ 1, only_b ^ 1);
  return neither == LITERAL_NONE ? LITERAL_NONE : neither ^ 1;
}

/* One gate, its fan-ins being there. Gates with many fan-ins become chains. */
static literal create_gate(struct graph *graph, const struct cones *cones, const struct gate *gate) {
  const uint32_t *fanins = &cones->netlist->fanins[gate->fanin_begin];
  if (gate->type == GATE_ZERO) return LITERAL_FALSE;
  if (gate->type == GATE_ONE) return LITERAL_TRUE;
  literal invert =
    gate->type == GATE_NOT || gate->type == GATE_NAND || gate->type == GATE_NOR || gate->type == GATE_XNOR;
  literal invert_fanins = gate->type == GATE_OR || gate->type == GATE_NOR;
  literal made = cones->gates[fanins[0]] ^ invert_fanins;
  for (uint32_t i = 1; i < gate->fanin_count && made != LITERAL_NONE; i++) {
    literal fanin = cones->gates[fanins[i]];
    made = gate->type == GATE_XOR || gate->type == GATE_XNOR ? make_xor(graph, made, fanin)
                                                             : graph_and(graph, made, fanin ^ invert_fanins);
  }
  return made == LITERAL_NONE ? made : made ^ invert_fanins ^ invert;
}

/* Depth first from the output; gates that an earlier cone has made are shared. */
static literal create_cone(struct builder *builder, uint32_t output) {
  struct cones *cones = builder->cones;
  const struct netlist *netlist = cones->netlist;
  struct graph *graph = builder->graph;
  size_t depth = 0;
  qz_mutex_lock(&graph->lock);
  if (cones->gates[output] == LITERAL_NONE) builder->stack[depth++] = (struct visit){output, 0};
  while (depth) {
    struct visit *top = &builder->stack[depth - 1];
    const struct gate *gate = &netlist->gates[top->gate];
    if (top->next < gate->fanin_count) {
      uint32_t fanin = netlist->fanins[gate->fanin_begin + top->next++];
      if (cones->gates[fanin] == LITERAL_NONE) builder->stack[depth++] = (struct visit){fanin, 0};
      continue;
    }
    literal made = create_gate(graph, cones, gate);
    if (made == LITERAL_NONE) break;
    cones->gates[top->gate] = made;
    if (builder->trace) trace_gate(builder->trace, netlist, top->gate, made);
    depth--;
  }
  literal root = cones->gates[output];
  if (builder->trace && root != LITERAL_NONE)
    trace_cone(builder->trace, netlist, output, root, graph->nodes[root / 2].level);
  qz_mutex_unlock(&graph->lock);
  return root;
}

struct cones *create_cones(struct graph *graph, const struct netlist *netlist, const uint32_t *input_numbers,
                           struct trace *trace) {
  struct cones *cones = calloc(1, sizeof *cones);
  if (!cones) return NULL;
  struct builder builder = {graph, cones, trace, malloc((netlist->gate_count + 1) * sizeof *builder.stack)};
  cones->netlist = netlist;
  cones->gates = malloc(netlist->gate_count * sizeof *cones->gates);
  cones->roots = malloc(netlist->output_count * sizeof *cones->roots);
  int complete = builder.stack && cones->gates && cones->roots;
  if (complete) {
    for (size_t i = 0; i < netlist->gate_count; i++) cones->gates[i] = LITERAL_NONE;
    for (size_t i = 0; i < netlist->input_count; i++) cones->gates[netlist->inputs[i]] = (input_numbers[i] + 1) * 2;
    for (size_t i = 0; i < netlist->output_count && complete; i++) {
      cones->roots[i] = create_cone(&builder, netlist->outputs[i]);
      complete = cones->roots[i] != LITERAL_NONE;
    }
  }
  free(builder.stack);
  if (!complete) {
    cones_free(cones);
    return NULL;
  }
  return cones;
}

void cones_free(struct cones *cones) {
  if (!cones) return;
  free(cones->gates);
  free(cones->roots);
  free(cones);
}
