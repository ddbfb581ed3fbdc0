/* The designs that can be generated. Each adds a block to a circuit. */
#ifndef GENERATE_BLOCKS_H
#define GENERATE_BLOCKS_H

#include "circuit.h"

/* Sum of a, b and a carry, width bits each; sums has width + 1 bits. */
typedef void adder(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t carry,
                   signal_t *sums);
adder add_ripple, add_lookahead, add_select, add_kogge_stone;

/* Product of a and b, width bits each; product has 2 * width bits. */
typedef void multiplier(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b,
                        signal_t *product);
multiplier multiply_array, multiply_wallace, multiply_booth;

#endif
