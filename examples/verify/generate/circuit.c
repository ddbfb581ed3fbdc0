/* See circuit.h. */
#include "circuit.h"

#include <stdlib.h>
#include <string.h>

__attribute__((noreturn)) static void no_memory(void) {
  fputs("verify-generate: not enough memory; ask for a smaller circuit\n", stderr);
  exit(2);
}

void *circuit_memory(size_t count, size_t bytes) {
  void *memory = calloc(count ? count : 1, bytes);
  if (!memory) no_memory();
  return memory;
}

static uint32_t intern(struct circuit *circuit, const char *name, uint32_t index) {
  char text[96];
  int length = snprintf(text, sizeof text, "%s%s%u", circuit->prefix, name, (unsigned)index);
  uint32_t gate = netlist_intern(&circuit->netlist, text, (size_t)length, 0);
  if (gate == UINT32_MAX) no_memory();
  return gate;
}

static void append(uint32_t **array, size_t *count, size_t *capacity, uint32_t value) {
  if (netlist_append(array, count, capacity, value)) no_memory();
}

static void define(struct circuit *circuit, uint32_t gate, enum gate_type type, const uint32_t *fanins,
                   uint32_t count) {
  struct netlist *netlist = &circuit->netlist;
  netlist->gates[gate].type = (uint8_t)type;
  netlist->gates[gate].fanin_begin = (uint32_t)netlist->fanin_count;
  netlist->gates[gate].fanin_count = count;
  for (uint32_t i = 0; i < count; i++)
    append(&netlist->fanins, &netlist->fanin_count, &netlist->fanin_capacity, fanins[i]);
}

static signal_t make(struct circuit *circuit, enum gate_type type, signal_t a, signal_t b) {
  uint32_t gate = intern(circuit, "g", circuit->made++), fanins[2] = {a, b};
  define(circuit, gate, type, fanins, type == GATE_NOT ? 1 : 2);
  return gate;
}

signal_t circuit_input(struct circuit *circuit, const char *name, uint32_t index) {
  uint32_t gate = intern(circuit, name, index);
  circuit->netlist.gates[gate].type = GATE_INPUT;
  append(&circuit->netlist.inputs, &circuit->netlist.input_count, &circuit->netlist.input_capacity, gate);
  return gate;
}

void circuit_output(struct circuit *circuit, const char *name, uint32_t index, signal_t signal) {
  uint32_t gate = intern(circuit, name, index);
  if (signal == SIGNAL_ZERO || signal == SIGNAL_ONE)
    define(circuit, gate, signal == SIGNAL_ONE ? GATE_ONE : GATE_ZERO, NULL, 0);
  else
    define(circuit, gate, GATE_BUFFER, &signal, 1);
  circuit->netlist.gates[gate].is_output = 1;
  append(&circuit->netlist.outputs, &circuit->netlist.output_count, &circuit->netlist.output_capacity, gate);
}

signal_t circuit_not(struct circuit *circuit, signal_t a) {
  if (a == SIGNAL_ZERO) return SIGNAL_ONE;
  if (a == SIGNAL_ONE) return SIGNAL_ZERO;
  return make(circuit, GATE_NOT, a, a);
}

signal_t circuit_and(struct circuit *circuit, signal_t a, signal_t b) {
  if (a == SIGNAL_ZERO || b == SIGNAL_ZERO) return SIGNAL_ZERO;
  if (a == SIGNAL_ONE) return b;
  if (b == SIGNAL_ONE) return a;
  return make(circuit, GATE_AND, a, b);
}

signal_t circuit_or(struct circuit *circuit, signal_t a, signal_t b) {
  if (a == SIGNAL_ONE || b == SIGNAL_ONE) return SIGNAL_ONE;
  if (a == SIGNAL_ZERO) return b;
  if (b == SIGNAL_ZERO) return a;
  return make(circuit, GATE_OR, a, b);
}

signal_t circuit_xor(struct circuit *circuit, signal_t a, signal_t b) {
  if (a == SIGNAL_ZERO) return b;
  if (b == SIGNAL_ZERO) return a;
  if (a == SIGNAL_ONE) return circuit_not(circuit, b);
  if (b == SIGNAL_ONE) return circuit_not(circuit, a);
  return make(circuit, GATE_XOR, a, b);
}

signal_t circuit_choose(struct circuit *circuit, signal_t select, signal_t zero, signal_t one) {
  if (zero == one) return zero;
  return circuit_or(circuit, circuit_and(circuit, select, one),
                    circuit_and(circuit, circuit_not(circuit, select), zero));
}

struct sum circuit_add(struct circuit *circuit, signal_t a, signal_t b, signal_t c) {
  signal_t half = circuit_xor(circuit, a, b);
  signal_t carry = circuit_or(circuit, circuit_and(circuit, a, b), circuit_and(circuit, half, c));
  return (struct sum){circuit_xor(circuit, half, c), carry};
}

/* The same random numbers everywhere, so that a seed means one circuit. */
static uint64_t next_random(uint64_t *state) {
  uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ mixed >> 31;
}

static void sort(struct circuit *circuit) {
  char message[256];
  free(circuit->netlist.order);
  circuit->netlist.file = "circuit";
  if (netlist_sort(&circuit->netlist, message, sizeof message)) no_memory();
}

static void simulate(const struct circuit *circuit, uint64_t *values, uint64_t seed) {
  for (size_t i = 0; i < circuit->netlist.input_count; i++) values[circuit->netlist.inputs[i]] = next_random(&seed);
  if (netlist_simulate(&circuit->netlist, values)) no_memory();
}

int circuit_mutate(struct circuit *circuit, uint64_t seed) {
  enum { ATTEMPTS = 200, ROUNDS = 16 };
  static const uint8_t changed[] = {
    [GATE_BUFFER] = GATE_NOT, [GATE_NOT] = GATE_BUFFER, [GATE_AND] = GATE_OR, [GATE_NAND] = GATE_NOR,
    [GATE_OR] = GATE_AND,     [GATE_NOR] = GATE_NAND,   [GATE_XOR] = GATE_OR, [GATE_XNOR] = GATE_XOR};
  struct netlist *netlist = &circuit->netlist;
  sort(circuit);
  uint64_t *before = circuit_memory(netlist->gate_count, sizeof *before);
  uint64_t *after = circuit_memory(netlist->gate_count, sizeof *after);
  int status = -1;
  for (int attempt = 0; attempt < ATTEMPTS && status; attempt++) {
    struct gate *gate = &netlist->gates[next_random(&seed) % netlist->gate_count];
    uint8_t type = gate->type;
    if (type <= GATE_ONE) continue;
    for (int round = 0; round < ROUNDS && status; round++) {
      uint64_t patterns = next_random(&seed);
      simulate(circuit, before, patterns);
      gate->type = changed[type];
      simulate(circuit, after, patterns);
      gate->type = type;
      for (size_t i = 0; i < netlist->output_count; i++)
        if (before[netlist->outputs[i]] != after[netlist->outputs[i]]) status = 0;
    }
    if (!status) gate->type = changed[type];
  }
  free(before);
  free(after);
  return status;
}

static signal_t make_nand(struct circuit *circuit, signal_t a, signal_t b) { return make(circuit, GATE_NAND, a, b); }

void circuit_to_nand(struct circuit *circuit) {
  struct netlist *netlist = &circuit->netlist;
  size_t count = netlist->gate_count;
  circuit->prefix = "nand_";
  circuit->made = 0;
  for (uint32_t i = 0; i < count; i++) {
    enum gate_type type = netlist->gates[i].type;
    if (type < GATE_AND) continue;
    signal_t a = netlist->fanins[netlist->gates[i].fanin_begin];
    for (uint32_t k = 1; k < netlist->gates[i].fanin_count; k++) {
      signal_t b = netlist->fanins[netlist->gates[i].fanin_begin + k];
      if (type == GATE_XOR || type == GATE_XNOR) {
        signal_t both = make_nand(circuit, a, b);
        a = make_nand(circuit, make_nand(circuit, a, both), make_nand(circuit, b, both));
      } else if (type == GATE_OR || type == GATE_NOR)
        a = make_nand(circuit, make(circuit, GATE_NOT, a, a), make(circuit, GATE_NOT, b, b));
      else {
        signal_t both = make_nand(circuit, a, b);
        a = make(circuit, GATE_NOT, both, both);
      }
    }
    int inverted = type == GATE_NAND || type == GATE_NOR || type == GATE_XNOR;
    define(circuit, i, inverted ? GATE_NOT : GATE_BUFFER, &a, 1);
  }
}

int circuit_write(const struct circuit *circuit, FILE *stream) {
  const struct netlist *netlist = &circuit->netlist;
  for (size_t i = 0; i < netlist->input_count; i++)
    fprintf(stream, "INPUT(%s)\n", netlist->gates[netlist->inputs[i]].name);
  for (size_t i = 0; i < netlist->output_count; i++)
    fprintf(stream, "OUTPUT(%s)\n", netlist->gates[netlist->outputs[i]].name);
  for (size_t i = 0; i < netlist->gate_count; i++) {
    const struct gate *gate = &netlist->gates[i];
    if (gate->type == GATE_INPUT) continue;
    fprintf(stream, "%s = %s", gate->name, gate_type_name(gate->type));
    for (uint32_t k = 0; k < gate->fanin_count; k++)
      fprintf(stream, "%s%s", k ? ", " : "(", netlist->gates[netlist->fanins[gate->fanin_begin + k]].name);
    fputs(gate->fanin_count ? ")\n" : "\n", stream);
  }
  return fflush(stream) || ferror(stream) ? -1 : 0;
}
