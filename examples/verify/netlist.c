/* Signals of a circuit: names, order, evaluation. See netlist.h. Must not read files. */
#include "netlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hash_name(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  return hash ^ hash >> 15;
}

static int same_name(const char *name, const char *text, size_t length) {
  return strncmp(name, text, length) == 0 && name[length] == '\0';
}

int64_t netlist_find(const struct netlist *netlist, const char *name, size_t length) {
  if (netlist->name_slots == 0) return -1;
  size_t mask = netlist->name_slots - 1;
  for (size_t slot = hash_name(name, length) & mask; netlist->names[slot]; slot = (slot + 1) & mask)
    if (same_name(netlist->gates[netlist->names[slot] - 1].name, name, length)) return netlist->names[slot] - 1;
  return -1;
}

static int grow_names(struct netlist *netlist) {
  size_t slots = netlist->name_slots ? netlist->name_slots * 2 : 1024;
  uint32_t *names = calloc(slots, sizeof *names);
  if (!names) return -1;
  for (size_t i = 0; i < netlist->gate_count; i++) {
    const char *name = netlist->gates[i].name;
    size_t slot = hash_name(name, strlen(name)) & (slots - 1);
    while (names[slot]) slot = (slot + 1) & (slots - 1);
    names[slot] = (uint32_t)i + 1;
  }
  free(netlist->names);
  netlist->names = names;
  netlist->name_slots = slots;
  return 0;
}

uint32_t netlist_intern(struct netlist *netlist, const char *name, size_t length, uint32_t line) {
  int64_t found = netlist_find(netlist, name, length);
  if (found >= 0) return (uint32_t)found;
  if (netlist->gate_count == netlist->gate_capacity) {
    size_t capacity = netlist->gate_capacity ? netlist->gate_capacity * 2 : 512;
    struct gate *gates = realloc(netlist->gates, capacity * sizeof *gates);
    if (!gates) return UINT32_MAX;
    netlist->gates = gates;
    netlist->gate_capacity = capacity;
  }
  if ((netlist->gate_count + 1) * 2 > netlist->name_slots && grow_names(netlist)) return UINT32_MAX;
  char *copy = strndup(name, length);
  if (!copy) return UINT32_MAX;
  uint32_t gate = (uint32_t)netlist->gate_count++;
  netlist->gates[gate] = (struct gate){.name = copy, .line = line, .type = GATE_UNDEFINED};
  size_t mask = netlist->name_slots - 1, slot = hash_name(name, length) & mask;
  while (netlist->names[slot]) slot = (slot + 1) & mask;
  netlist->names[slot] = gate + 1;
  return gate;
}

int netlist_append(uint32_t **array, size_t *count, size_t *capacity, uint32_t value) {
  if (*count == *capacity) {
    size_t larger = *capacity ? *capacity * 2 : 256;
    uint32_t *moved = realloc(*array, larger * sizeof *moved);
    if (!moved) return -1;
    *array = moved;
    *capacity = larger;
  }
  (*array)[(*count)++] = value;
  return 0;
}

/* Depth first with a stack of its own: a chain of gates may be longer than a thread's stack is deep. */
int netlist_sort(struct netlist *netlist, char *message, size_t message_bytes) {
  size_t count = netlist->gate_count, sorted = 0;
  struct visit {
    uint32_t gate, next;
  } *stack = malloc((count + 1) * sizeof *stack);
  uint8_t *state = calloc(count + 1, 1); /* 0 new, 1 on the stack, 2 sorted */
  netlist->order = malloc((count + 1) * sizeof *netlist->order);
  int status = -1;
  if (!stack || !state || !netlist->order) {
    snprintf(message, message_bytes, "%s: not enough memory for %zu signals", netlist->file, count);
    goto end;
  }
  for (size_t root = 0; root < count; root++) {
    size_t depth = 0;
    if (state[root] == 0) {
      stack[depth++] = (struct visit){(uint32_t)root, 0};
      state[root] = 1;
    }
    while (depth) {
      struct visit *top = &stack[depth - 1];
      const struct gate *gate = &netlist->gates[top->gate];
      if (top->next == gate->fanin_count) {
        state[top->gate] = 2;
        netlist->order[sorted++] = top->gate;
        depth--;
        continue;
      }
      uint32_t fanin = netlist->fanins[gate->fanin_begin + top->next++];
      if (state[fanin] == 1) {
        snprintf(message, message_bytes, "%s:%u: %s depends on itself", netlist->file,
                 (unsigned)netlist->gates[fanin].line, netlist->gates[fanin].name);
        goto end;
      }
      if (state[fanin] == 0) {
        state[fanin] = 1;
        stack[depth++] = (struct visit){fanin, 0};
      }
    }
  }
  status = 0;
end:
  free(stack);
  free(state);
  return status;
}

const char *gate_type_name(enum gate_type type) {
  static const char *const names[] = {"undefined", "input", "gnd", "vdd", "buf", "not",
                                      "and",       "nand",  "or",  "nor", "xor", "xnor"};
  return names[type];
}

uint64_t gate_evaluate(enum gate_type type, const uint64_t *operands, size_t count) {
  uint64_t value = 0;
  switch (type) {
  case GATE_UNDEFINED:
  case GATE_INPUT:
  case GATE_ZERO: return 0;
  case GATE_ONE: return ~UINT64_C(0);
  case GATE_BUFFER: return operands[0];
  case GATE_NOT: return ~operands[0];
  case GATE_AND:
  case GATE_NAND:
    value = ~UINT64_C(0);
    for (size_t i = 0; i < count; i++) value &= operands[i];
    return type == GATE_NAND ? ~value : value;
  case GATE_OR:
  case GATE_NOR:
    for (size_t i = 0; i < count; i++) value |= operands[i];
    return type == GATE_NOR ? ~value : value;
  case GATE_XOR:
  case GATE_XNOR:
    for (size_t i = 0; i < count; i++) value ^= operands[i];
    return type == GATE_XNOR ? ~value : value;
  }
  return 0;
}

int netlist_simulate(const struct netlist *netlist, uint64_t *values) {
  size_t widest = 1;
  for (size_t i = 0; i < netlist->gate_count; i++)
    if (netlist->gates[i].fanin_count > widest) widest = netlist->gates[i].fanin_count;
  uint64_t *operands = malloc(widest * sizeof *operands);
  if (!operands) return ENOMEM;
  for (size_t i = 0; i < netlist->gate_count; i++) {
    const struct gate *gate = &netlist->gates[netlist->order[i]];
    if (gate->type == GATE_INPUT) continue;
    for (uint32_t k = 0; k < gate->fanin_count; k++) operands[k] = values[netlist->fanins[gate->fanin_begin + k]];
    values[netlist->order[i]] = gate_evaluate(gate->type, operands, gate->fanin_count);
  }
  free(operands);
  return 0;
}

void netlist_clear(struct netlist *netlist) {
  for (size_t i = 0; i < netlist->gate_count; i++) free(netlist->gates[i].name);
  free(netlist->gates);
  free(netlist->fanins);
  free(netlist->inputs);
  free(netlist->outputs);
  free(netlist->order);
  free(netlist->names);
}

void netlist_free(struct netlist *netlist) {
  if (!netlist) return;
  netlist_clear(netlist);
  free(netlist);
}
