/* A combinational circuit read from a .bench file.
 * Owns: signals, gates, their order. Written by read_input() alone; read by everybody, from any thread, afterwards.
 * It must not know of cones, threads or proofs.
 */
#ifndef VERIFY_NETLIST_H
#define VERIFY_NETLIST_H

#include <stddef.h>
#include <stdint.h>

enum gate_type {
  GATE_UNDEFINED, /* mentioned, but not (yet) defined */
  GATE_INPUT,
  GATE_ZERO,
  GATE_ONE,
  GATE_BUFFER,
  GATE_NOT,
  GATE_AND,
  GATE_NAND,
  GATE_OR,
  GATE_NOR,
  GATE_XOR,
  GATE_XNOR,
};

struct gate {
  char *name;
  uint32_t line;        /* of the definition, or of the first mention */
  uint32_t fanin_begin; /* into netlist.fanins */
  uint32_t fanin_count;
  uint8_t type; /* enum gate_type */
  uint8_t is_output;
};

struct netlist {
  const char *file;
  struct gate *gates;
  size_t gate_count, gate_capacity;
  uint32_t *fanins; /* gate numbers */
  size_t fanin_count, fanin_capacity;
  uint32_t *inputs, *outputs; /* gate numbers, in the order of the file */
  size_t input_count, input_capacity, output_count, output_capacity;
  uint32_t *order;   /* all gates, fan-ins before the gates that use them */
  uint32_t *names;   /* hash table: gate number + 1, 0 where free */
  size_t name_slots; /* a power of two */
};

/* Reads a file. NULL, with one line "file:line: what is wrong" in message, if that is not a combinational circuit. */
struct netlist *read_input(const char *file, char *message, size_t message_bytes);
void netlist_free(struct netlist *netlist);
/* Frees what a netlist holds, for one that lies in other memory. */
void netlist_clear(struct netlist *netlist);

/* The gate with this name, or -1. */
int64_t netlist_find(const struct netlist *netlist, const char *name, size_t length);
/* The gate with this name; made, undefined, if there is none. UINT32_MAX: out of memory. */
uint32_t netlist_intern(struct netlist *netlist, const char *name, size_t length, uint32_t line);
/* Appends one number to a growing array; 0, or -1 without memory. */
int netlist_append(uint32_t **array, size_t *count, size_t *capacity, uint32_t value);
/* Fills order. 0, or -1 with a message if a signal depends on itself. */
int netlist_sort(struct netlist *netlist, char *message, size_t message_bytes);

const char *gate_type_name(enum gate_type type);
/* 64 evaluations of one gate at once. */
uint64_t gate_evaluate(enum gate_type type, const uint64_t *operands, size_t count);
/* 64 evaluations of the whole circuit: values has a word for each gate, those of the inputs are set by the caller. 0,
 * or ENOMEM. */
int netlist_simulate(const struct netlist *netlist, uint64_t *values);

#endif
