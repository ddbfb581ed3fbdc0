/* Multipliers of three designs, unsigned: see blocks.h. */
#include "blocks.h"

#include <stdlib.h>

/* One row of partial products after the other, each added to what is there with a carry that ripples. */
void multiply_array(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t *product) {
  signal_t *sum = circuit_memory(width + 1, sizeof *sum), *row = circuit_memory(width, sizeof *row);
  for (uint32_t i = 0; i <= width; i++) sum[i] = SIGNAL_ZERO;
  for (uint32_t k = 0; k < width; k++) {
    for (uint32_t i = 0; i < width; i++) row[i] = circuit_and(circuit, a[i], b[k]);
    add_ripple(circuit, width, sum, row, SIGNAL_ZERO, sum);
    product[k] = sum[0];
    for (uint32_t i = 0; i < width; i++) sum[i] = sum[i + 1];
  }
  for (uint32_t i = 0; i < width; i++) product[width + i] = sum[i];
  free(sum);
  free(row);
}

/* Bits of one weight. */
struct column {
  signal_t *bits;
  uint32_t count;
};

static void put(struct column *columns, uint32_t width, uint32_t weight, signal_t bit) {
  if (weight < width && bit != SIGNAL_ZERO) columns[weight].bits[columns[weight].count++] = bit;
}

static struct column *make_columns(uint32_t width, uint32_t most) {
  struct column *columns = circuit_memory(width, sizeof *columns);
  for (uint32_t i = 0; i < width; i++) columns[i].bits = circuit_memory(most, sizeof *columns[i].bits);
  return columns;
}

static void free_columns(struct column *columns, uint32_t width) {
  for (uint32_t i = 0; i < width; i++) free(columns[i].bits);
  free(columns);
}

/* Layers of full adders until no column has more than two bits, then one ripple adder. The sum is modulo 2^width. */
static void compress(struct circuit *circuit, struct column *columns, uint32_t width, uint32_t most, signal_t *sums) {
  for (uint32_t highest = most; highest > 2;) {
    struct column *next = make_columns(width, most);
    for (uint32_t weight = 0; weight < width; weight++) {
      struct column *column = &columns[weight];
      uint32_t i = 0;
      for (; i + 3 <= column->count; i += 3) {
        struct sum sum = circuit_add(circuit, column->bits[i], column->bits[i + 1], column->bits[i + 2]);
        put(next, width, weight, sum.sum);
        put(next, width, weight + 1, sum.carry);
      }
      for (; i < column->count; i++) put(next, width, weight, column->bits[i]);
    }
    highest = 0;
    for (uint32_t weight = 0; weight < width; weight++) {
      if (next[weight].count > highest) highest = next[weight].count;
      signal_t *swap = columns[weight].bits;
      columns[weight] = next[weight];
      next[weight].bits = swap;
    }
    free_columns(next, width);
  }
  signal_t carry = SIGNAL_ZERO;
  for (uint32_t weight = 0; weight < width; weight++) {
    const struct column *column = &columns[weight];
    signal_t first = column->count > 0 ? column->bits[0] : SIGNAL_ZERO;
    signal_t second = column->count > 1 ? column->bits[1] : SIGNAL_ZERO;
    if (weight + 1 == width) {
      sums[weight] = circuit_xor(circuit, circuit_xor(circuit, first, second), carry);
      break;
    }
    struct sum sum = circuit_add(circuit, first, second, carry);
    sums[weight] = sum.sum;
    carry = sum.carry;
  }
}

void multiply_wallace(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b,
                      signal_t *product) {
  uint32_t most = 2 * width + 2;
  struct column *columns = make_columns(2 * width, most);
  for (uint32_t i = 0; i < width; i++)
    for (uint32_t k = 0; k < width; k++) put(columns, 2 * width, i + k, circuit_and(circuit, a[i], b[k]));
  compress(circuit, columns, 2 * width, most, product);
  free_columns(columns, 2 * width);
}

/* Radix 4: overlapping groups of three bits of b choose 0, a, 2a, -a or -2a. Negative numbers are inverted, with the
 * sign in all places above and one added in the lowest. */
void multiply_booth(struct circuit *circuit, uint32_t width, const signal_t *a, const signal_t *b, signal_t *product) {
  uint32_t most = width + 4;
  struct column *columns = make_columns(2 * width, most);
  for (uint32_t digit = 0; digit <= width; digit += 2) {
    signal_t low = digit ? b[digit - 1] : SIGNAL_ZERO;
    signal_t middle = digit < width ? b[digit] : SIGNAL_ZERO;
    signal_t high = digit + 1 < width ? b[digit + 1] : SIGNAL_ZERO;
    signal_t once = circuit_xor(circuit, low, middle);
    signal_t same = circuit_not(circuit, once);
    signal_t twice = circuit_and(circuit, same, circuit_xor(circuit, middle, high));
    signal_t minus = circuit_and(circuit, high, circuit_not(circuit, circuit_and(circuit, low, middle)));
    for (uint32_t weight = digit; weight < 2 * width; weight++) {
      uint32_t i = weight - digit;
      signal_t bit = SIGNAL_ZERO;
      if (i < width) bit = circuit_and(circuit, once, a[i]);
      if (i > 0 && i <= width) bit = circuit_or(circuit, bit, circuit_and(circuit, twice, a[i - 1]));
      put(columns, 2 * width, weight, circuit_xor(circuit, bit, minus));
    }
    put(columns, 2 * width, digit, minus);
  }
  compress(circuit, columns, 2 * width, most, product);
  free_columns(columns, 2 * width);
}
