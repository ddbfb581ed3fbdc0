/* Cones: the part of the shared graph that one output depends on.
 * Owns the table from gates to literals of one circuit. create_cones() writes it; no other thread reads it while it is
 * being written.
 */
#ifndef VERIFY_CONE_H
#define VERIFY_CONE_H

#include "graph.h"
#include "netlist.h"
#include "trace.h"

struct cones {
  const struct netlist *netlist;
  literal *gates; /* literal of each gate, LITERAL_NONE where no cone needed it yet */
  literal *roots; /* literal of each output */
};

/* Makes the cone of every output, in turn. input_numbers says which input of the graph each input of the circuit is.
 * NULL: out of memory. */
struct cones *create_cones(struct graph *graph, const struct netlist *netlist, const uint32_t *input_numbers,
                           struct trace *trace);
void cones_free(struct cones *cones);

#endif
