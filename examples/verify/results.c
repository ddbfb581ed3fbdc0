/* What a comparison prints. Counterexamples are simulated on the circuits as they were read, independently of how they
 * were found: one that shows no difference is never reported as one. See verify.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "verify.h"

enum { INPUTS_A_LINE = 8 };

/* Value of one output for inputs given in the order of the first circuit; -1 without memory. */
static int output_value(const struct netlist *netlist, uint32_t output, const uint8_t *inputs,
                        const uint32_t *positions) {
  uint64_t *values = calloc(netlist->gate_count, sizeof *values);
  if (!values) return -1;
  for (size_t i = 0; i < netlist->input_count; i++) values[netlist->inputs[i]] = inputs[positions ? positions[i] : i];
  int value = netlist_simulate(netlist, values) ? -1 : (int)(values[netlist->outputs[output]] & 1);
  free(values);
  return value;
}

static void print_counterexample(const struct netlist *circuit, const struct pair *pair, int left, int right) {
  printf("counterexample for output %s: %d in the first circuit, %d in the second, with\n", pair->name, left, right);
  for (size_t i = 0; i < circuit->input_count; i++)
    printf("%s%s=%d%s", i % INPUTS_A_LINE ? " " : "  ", circuit->gates[circuit->inputs[i]].name, pair->proof.inputs[i],
           (i + 1) % INPUTS_A_LINE && i + 1 < circuit->input_count ? "" : "\n");
}

static const char *verdict_name(enum verdict verdict) {
  static const char *const names[] = {"none", "equal", "different", "undecided"};
  return names[verdict];
}

static void print_summary(const struct netlist *const circuits[2], const struct matching *matching,
                          const struct work *work) {
  for (int i = 0; i < 2; i++)
    printf("%s: %zu inputs, %zu outputs, %zu gates\n", circuits[i]->file, circuits[i]->input_count,
           circuits[i]->output_count, circuits[i]->gate_count - circuits[i]->input_count);
  printf("inputs and outputs matched by %s; %zu nodes shared by both\n", matching->by_name ? "name" : "position",
         work->graph->count);
  for (int method = 0; method < METHODS; method++)
    if (work->methods[method]) printf("%8zu pairs: %s\n", work->methods[method], method_name(method));
  printf("%8zu nodes of decision diagrams made by %u workers\n", work->nodes, work->worker_count);
}

int print_results(const struct request *request, const struct netlist *const circuits[2],
                  const struct matching *matching, const struct work *work) {
  if (!request->quiet) print_summary(circuits, matching, work);
  if (request->table)
    for (size_t i = 0; i < work->pair_count; i++) {
      const struct proof *proof = &work->pairs[i].proof;
      printf("%-24s %-10s %-16s %zu\n", work->pairs[i].name, verdict_name(proof->verdict), method_name(proof->method),
             proof->nodes);
    }
  size_t different = 0, refuted = 0;
  for (size_t i = 0; i < work->pair_count; i++) {
    const struct pair *pair = &work->pairs[i];
    if (pair->proof.verdict != VERDICT_DIFFERENT) continue;
    int left = output_value(circuits[0], pair->left_output, pair->proof.inputs, NULL);
    int right = output_value(circuits[1], pair->right_output, pair->proof.inputs, matching->inputs);
    if (left < 0 || right < 0 || left == right) {
      fprintf(stderr, "verify: the counterexample for output %s could not be confirmed by simulation\n", pair->name);
      refuted++;
      continue;
    }
    if (different++ == 0 && !request->quiet) print_counterexample(circuits[0], pair, left, right);
  }
  size_t undecided = work->verdicts[VERDICT_UNDECIDED] + refuted;
  printf("%s: %zu outputs equal, %zu different, %zu undecided\n",
         different   ? "DIFFERENT"
         : undecided ? "UNDECIDED"
                     : "EQUAL",
         work->verdicts[VERDICT_EQUAL], different, undecided);
  if (undecided && !request->quiet) printf("a higher --limit (now %zu) may decide more\n", request->limit);
  return different ? EXIT_DIFFERENT : undecided ? EXIT_UNDECIDED : EXIT_EQUAL;
}
