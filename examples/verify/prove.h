/* Proves that two literals of the shared graph are the same function, or finds inputs for which they differ.
 * A prover belongs to one worker, and only reads the graph.
 */
#ifndef VERIFY_PROVE_H
#define VERIFY_PROVE_H

#include "bdd.h"
#include "graph.h"

enum verdict { VERDICT_NONE, VERDICT_EQUAL, VERDICT_DIFFERENT, VERDICT_UNDECIDED };
enum method { METHOD_STRUCTURE, METHOD_SIMULATION, METHOD_DIAGRAM, METHOD_LIMIT, METHODS };

struct proof {
  enum verdict verdict;
  enum method method;
  size_t nodes;    /* of decision diagrams made */
  uint8_t *inputs; /* VERDICT_DIFFERENT: a value for each input of the graph; to be freed */
};

struct prover;
/* limit: most diagram nodes for one attempt at one pair. NULL: out of memory. */
struct prover *prover_create(const struct graph *graph, size_t inputs, const struct bdd_engine *engine,
                             struct pool *pool, size_t limit);
void prover_free(struct prover *prover);
/* VERDICT_UNDECIDED if the limit, or memory, does not suffice; never a wrong answer. */
struct proof prove_pair(struct prover *prover, literal left, literal right);
const char *method_name(enum method method);

#endif
