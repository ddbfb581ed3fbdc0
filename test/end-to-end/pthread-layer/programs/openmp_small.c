/* Main works alone for 300 us, then both threads of a team share what takes microseconds, again and again: one thread
 * takes as long. */
#include <stdio.h>
#include "work.h"

#define ROUNDS 3000
#define COUNT  2000

static double values[COUNT];

__attribute__((noinline)) static void prepare(void) { work_own_us(300); }

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    prepare();
#pragma omp parallel for num_threads(2)
    for (int k = 0; k < COUNT; k++) values[k] = values[k] * 0.5 + k;
  }
  printf("%f\n", values[7]);
}
