/* Building circuits in memory: signals made by functions, constants folded away, names given by the maker.
 * Owns nothing: fills a struct netlist of verify's, which is then simulated or written.
 */
#ifndef GENERATE_CIRCUIT_H
#define GENERATE_CIRCUIT_H

#include <stdio.h>

#include "netlist.h"

typedef uint32_t signal_t;
#define SIGNAL_ZERO (UINT32_MAX - 1)
#define SIGNAL_ONE  (UINT32_MAX - 2)

struct circuit {
  struct netlist netlist;
  const char *prefix; /* of the names in the block being made */
  uint32_t made;      /* gates of that block */
};

/* These end the program if memory runs out. Names are prefix followed by the name given. */
signal_t circuit_input(struct circuit *circuit, const char *name, uint32_t index);
void circuit_output(struct circuit *circuit, const char *name, uint32_t index, signal_t signal);
signal_t circuit_not(struct circuit *circuit, signal_t a);
signal_t circuit_and(struct circuit *circuit, signal_t a, signal_t b);
signal_t circuit_or(struct circuit *circuit, signal_t a, signal_t b);
signal_t circuit_xor(struct circuit *circuit, signal_t a, signal_t b);
/* select ? one : zero */
signal_t circuit_choose(struct circuit *circuit, signal_t select, signal_t zero, signal_t one);
struct sum {
  signal_t sum, carry;
};
struct sum circuit_add(struct circuit *circuit, signal_t a, signal_t b, signal_t c);
void *circuit_memory(size_t count, size_t bytes);

/* Changes one gate so that some output differs for some input (checked by simulation). 0; -1: none was found. */
int circuit_mutate(struct circuit *circuit, uint64_t seed);
/* Replaces every gate by NAND gates and inverters. */
void circuit_to_nand(struct circuit *circuit);
/* 0, or -1 with errno. */
int circuit_write(const struct circuit *circuit, FILE *stream);

#endif
