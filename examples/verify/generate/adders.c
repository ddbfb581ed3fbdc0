/* Adders of four designs: see blocks.h. */
#include "blocks.h"

#include <stdlib.h>

void add_ripple(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t carry,
                signal_t *sums) {
  for (uint32_t i = 0; i < width; i++) {
    struct sum sum = circuit_add(circuit, a[i], b[i], carry);
    sums[i] = sum.sum;
    carry = sum.carry;
  }
  sums[width] = carry;
}

/* Groups of four: within a group every carry is a sum of products of generate and propagate signals. */
void add_lookahead(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t carry,
                   signal_t *sums) {
  enum { GROUP = 4 };
  for (uint32_t begin = 0; begin < width; begin += GROUP) {
    uint32_t size = width - begin < GROUP ? width - begin : GROUP;
    signal_t generate[GROUP], propagate[GROUP], carries[GROUP + 1];
    for (uint32_t i = 0; i < size; i++) {
      generate[i] = circuit_and(circuit, a[begin + i], b[begin + i]);
      propagate[i] = circuit_xor(circuit, a[begin + i], b[begin + i]);
    }
    carries[0] = carry;
    for (uint32_t i = 0; i < size; i++) {
      signal_t sum = generate[i], product = propagate[i];
      for (uint32_t k = i; k-- > 0;) {
        sum = circuit_or(circuit, sum, circuit_and(circuit, product, generate[k]));
        product = circuit_and(circuit, product, propagate[k]);
      }
      carries[i + 1] = circuit_or(circuit, sum, circuit_and(circuit, product, carry));
    }
    for (uint32_t i = 0; i < size; i++) sums[begin + i] = circuit_xor(circuit, propagate[i], carries[i]);
    carry = carries[size];
  }
  sums[width] = carry;
}

/* Groups computed for both values of their carry; the carry then selects. */
void add_select(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t carry,
                signal_t *sums) {
  enum { GROUP = 4 };
  signal_t if_zero[GROUP + 1], if_one[GROUP + 1];
  for (uint32_t begin = 0; begin < width; begin += GROUP) {
    uint32_t size = width - begin < GROUP ? width - begin : GROUP;
    add_ripple(circuit, size, a + begin, b + begin, SIGNAL_ZERO, if_zero);
    add_ripple(circuit, size, a + begin, b + begin, SIGNAL_ONE, if_one);
    for (uint32_t i = 0; i < size; i++) sums[begin + i] = circuit_choose(circuit, carry, if_zero[i], if_one[i]);
    carry = circuit_choose(circuit, carry, if_zero[size], if_one[size]);
  }
  sums[width] = carry;
}

/* Parallel prefix: after step k each position knows generate and propagate of the 2^k positions that end in it. */
void add_kogge_stone(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t carry,
                     signal_t *sums) {
  signal_t *generate = circuit_memory(width, sizeof *generate), *propagate = circuit_memory(width, sizeof *propagate);
  signal_t *half = circuit_memory(width, sizeof *half);
  for (uint32_t i = 0; i < width; i++) {
    generate[i] = circuit_and(circuit, a[i], b[i]);
    half[i] = propagate[i] = circuit_xor(circuit, a[i], b[i]);
  }
  for (uint32_t distance = 1; distance < width; distance *= 2)
    for (uint32_t i = width; i-- > distance;) {
      generate[i] = circuit_or(circuit, generate[i], circuit_and(circuit, propagate[i], generate[i - distance]));
      propagate[i] = circuit_and(circuit, propagate[i], propagate[i - distance]);
    }
  for (uint32_t i = 0; i < width; i++) {
    signal_t below = i ? circuit_or(circuit, generate[i - 1], circuit_and(circuit, propagate[i - 1], carry)) : carry;
    sums[i] = circuit_xor(circuit, half[i], below);
  }
  sums[width] = circuit_or(circuit, generate[width - 1], circuit_and(circuit, propagate[width - 1], carry));
  free(generate);
  free(propagate);
  free(half);
}
