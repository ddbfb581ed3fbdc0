/* See match.h. */
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For each port of one circuit its position among those of the other, by name. The name that is missing, or NULL. */
static const char *match_names(uint32_t *positions, const struct netlist *from, const uint32_t *ports, size_t count,
                               const struct netlist *to, const uint32_t *position_of) {
  for (size_t i = 0; i < count; i++) {
    const char *name = from->gates[ports[i]].name;
    int64_t gate = netlist_find(to, name, strlen(name));
    if (gate < 0 || position_of[gate] == UINT32_MAX) return name;
    positions[i] = position_of[gate];
  }
  return NULL;
}

static uint32_t *positions_of(const struct netlist *netlist, const uint32_t *ports, size_t count) {
  uint32_t *positions = malloc((netlist->gate_count + 1) * sizeof *positions);
  if (!positions) return NULL;
  for (size_t i = 0; i < netlist->gate_count; i++) positions[i] = UINT32_MAX;
  for (size_t i = 0; i < count; i++) positions[ports[i]] = (uint32_t)i;
  return positions;
}

int match_circuits(struct matching *matching, const struct netlist *first, const struct netlist *second,
                   enum match_by by, char *message, size_t message_bytes) {
  *matching = (struct matching){NULL, NULL, 1};
  if (first->input_count != second->input_count || first->output_count != second->output_count) {
    snprintf(message, message_bytes, "%s has %zu inputs and %zu outputs, %s has %zu and %zu", first->file,
             first->input_count, first->output_count, second->file, second->input_count, second->output_count);
    return -1;
  }
  uint32_t *first_inputs = positions_of(first, first->inputs, first->input_count);
  uint32_t *second_outputs = positions_of(second, second->outputs, second->output_count);
  matching->inputs = malloc((second->input_count + 1) * sizeof *matching->inputs);
  matching->outputs = malloc((first->output_count + 1) * sizeof *matching->outputs);
  int status = 0;
  if (!first_inputs || !second_outputs || !matching->inputs || !matching->outputs) {
    snprintf(message, message_bytes, "not enough memory");
    status = -1;
  } else if (by != MATCH_POSITION) {
    const char *missing =
      match_names(matching->inputs, second, second->inputs, second->input_count, first, first_inputs);
    const char *file = first->file, *what = "input";
    if (!missing) {
      missing = match_names(matching->outputs, first, first->outputs, first->output_count, second, second_outputs);
      file = second->file;
      what = "output";
    }
    if (missing && by == MATCH_NAME) {
      snprintf(message, message_bytes, "%s has no %s %.60s; --match position ignores names", file, what, missing);
      status = -1;
    }
    matching->by_name = !missing;
  } else
    matching->by_name = 0;
  if (!status && !matching->by_name) {
    for (size_t i = 0; i < second->input_count; i++) matching->inputs[i] = (uint32_t)i;
    for (size_t i = 0; i < first->output_count; i++) matching->outputs[i] = (uint32_t)i;
  }
  free(first_inputs);
  free(second_outputs);
  if (status) match_free(matching);
  return status;
}

void match_free(struct matching *matching) {
  free(matching->inputs);
  free(matching->outputs);
  matching->inputs = matching->outputs = NULL;
}
