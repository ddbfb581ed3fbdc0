/* Random small circuits: for each pair of outputs, the results of the two engines, through graph, cones, queue and
 * workers, must agree with exhaustive simulation; counterexamples must be valid; and limits must lead to "undecided",
 * never to a wrong answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/verify/cone.h"
#include "examples/verify/work.h"

enum { INPUTS = 6, GATES = 14, OUTPUTS = 4, CIRCUITS = 400 };

static int failures;
static char path[] = "/tmp/verify-engines-XXXXXX";
static uint64_t state = 42;

static unsigned pick(unsigned below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state >> 33) % below;
}

/* A random circuit; if variation is set, the same one with a few of its gates changed. */
static struct netlist *random_circuit(uint64_t seed, int variation) {
  static const char *const types[] = {"and", "nand", "or", "nor", "xor", "xnor", "not", "buf"};
  FILE *stream = fopen(path, "w");
  if (!stream) exit(1);
  state = seed;
  for (int i = 0; i < INPUTS; i++) fprintf(stream, "INPUT(s%d)\n", i);
  for (int i = 0; i < OUTPUTS; i++) fprintf(stream, "OUTPUT(s%d)\n", INPUTS + GATES - 1 - i);
  for (unsigned i = INPUTS; i < INPUTS + GATES; i++) {
    unsigned type = pick(8), a = pick(i), b = pick(i), c = pick(i), wide = pick(3);
    if (variation && (i * 7 + seed) % 11 == 0) type ^= 1;
    if (type >= 6)
      fprintf(stream, "s%u = %s(s%u)\n", i, types[type], a);
    else if (wide)
      fprintf(stream, "s%u = %s(s%u, s%u)\n", i, types[type], a, b);
    else
      fprintf(stream, "s%u = %s(s%u, s%u, s%u)\n", i, types[type], a, b, c);
  }
  fclose(stream);
  char message[1024];
  struct netlist *netlist = read_input(path, message, sizeof message);
  if (!netlist) {
    fprintf(stderr, "%s\n", message);
    exit(1);
  }
  return netlist;
}

/* All 2^INPUTS values of an output, in one word. */
static uint64_t truth_table(const struct netlist *netlist, size_t output) {
  uint64_t values[INPUTS + GATES] = {0};
  for (unsigned k = 0; k < INPUTS; k++)
    for (unsigned i = 0; i < 64; i++) values[netlist->inputs[k]] |= (uint64_t)(i >> k & 1) << i;
  if (netlist_simulate(netlist, values)) exit(1);
  return values[netlist->outputs[output]];
}

static void check_pair(uint64_t seed, const struct bdd_engine *engine, const struct pair *pair, uint64_t left,
                       uint64_t right, size_t limit) {
  const struct proof *proof = &pair->proof;
  unsigned row = 0;
  int right_answer = 0;
  switch (proof->verdict) {
  case VERDICT_EQUAL: right_answer = left == right; break;
  case VERDICT_DIFFERENT:
    for (unsigned k = 0; k < INPUTS; k++) row |= (unsigned)proof->inputs[k] << k;
    right_answer = (left ^ right) >> row & 1;
    break;
  case VERDICT_UNDECIDED: right_answer = limit < 1000; break;
  case VERDICT_NONE: break;
  }
  if (right_answer) return;
  fprintf(stderr, "circuit %llu, engine %s, limit %zu, output %s: verdict %d, tables %llx and %llx\n",
          (unsigned long long)seed, engine->name, limit, pair->name, proof->verdict, (unsigned long long)left,
          (unsigned long long)right);
  failures++;
}

/* How many of the pairs were undecided. */
static size_t compare(uint64_t seed, struct netlist *const circuits[2], const struct bdd_engine *engine, size_t limit) {
  uint32_t numbers[INPUTS];
  for (uint32_t i = 0; i < INPUTS; i++) numbers[i] = i;
  struct graph *graph = graph_create(INPUTS);
  struct cones *cones[2];
  for (int i = 0; i < 2; i++) cones[i] = create_cones(graph, circuits[i], numbers, NULL);
  struct work work = {
    .graph = graph, .inputs = INPUTS, .engine = engine, .limit = limit, .pair_count = OUTPUTS * OUTPUTS};
  work.pairs = calloc(work.pair_count, sizeof *work.pairs);
  /* Every output of one with every output of the other: few of these are equal, some are. */
  for (uint32_t i = 0; i < work.pair_count; i++)
    work.pairs[i] = (struct pair){.name = circuits[0]->gates[circuits[0]->outputs[i / OUTPUTS]].name,
                                  .left = cones[0]->roots[i / OUTPUTS],
                                  .right = cones[1]->roots[i % OUTPUTS],
                                  .left_output = i / OUTPUTS,
                                  .right_output = i % OUTPUTS};
  int error = work_start(&work, 3);
  if (!error) error = work_finish(&work);
  if (error) {
    fprintf(stderr, "workers: %s\n", strerror(error));
    exit(1);
  }
  size_t counted = 0;
  for (int i = 0; i < 4; i++) counted += work.verdicts[i];
  if (counted != work.pair_count) {
    fprintf(stderr, "circuit %llu: %zu results of %zu pairs\n", (unsigned long long)seed, counted, work.pair_count);
    failures++;
  }
  for (size_t i = 0; i < work.pair_count; i++)
    check_pair(seed, engine, &work.pairs[i], truth_table(circuits[0], work.pairs[i].left_output),
               truth_table(circuits[1], work.pairs[i].right_output), limit);
  size_t undecided = work.verdicts[VERDICT_UNDECIDED];
  work_free(&work);
  for (int i = 0; i < 2; i++) cones_free(cones[i]);
  graph_free(graph);
  return undecided;
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0) {
    perror(path);
    return 1;
  }
  close(file);
  size_t undecided = 0;
  for (uint64_t seed = 1; seed <= CIRCUITS; seed++) {
    struct netlist *circuits[2] = {random_circuit(seed, 0), random_circuit(seed, 1)};
    const struct bdd_engine *engine = seed & 1 ? &bdd_plain : &bdd_tuned;
    const struct bdd_engine *other = seed & 1 ? &bdd_tuned : &bdd_plain;
    compare(seed, circuits, engine, 100000);
    compare(seed, circuits, other, 100000);
    undecided += compare(seed, circuits, engine, 1 + seed % 12);
    netlist_free(circuits[0]);
    netlist_free(circuits[1]);
  }
  if (!undecided) {
    fprintf(stderr, "no limit was ever reached\n");
    failures++;
  }
  unlink(path);
  return failures != 0;
}
