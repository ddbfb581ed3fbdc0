/* Pieces of counted work, each named by a small letter, and the processor time that each took: the same units may take
 * twice as long from one moment to the next. Known answers are computed from what the program prints at its end. */
#ifndef TEST_PIECES_H
#define TEST_PIECES_H
#include "units.h"

static uint64_t pieces_ns['z' - 'a' + 1];

static inline __attribute__((always_inline, no_instrument_function)) uint64_t piece(char name, uint64_t count) {
  uint64_t ns = units_ns(count);
  __atomic_fetch_add(&pieces_ns[name - 'a'], ns, __ATOMIC_RELAXED);
  return ns;
}

__attribute__((no_instrument_function)) static void print_pieces(void) {
  for (char name = 'a'; name <= 'z'; name++)
    if (pieces_ns[name - 'a']) printf("%c %llu\n", name, (unsigned long long)pieces_ns[name - 'a']);
}

#endif
