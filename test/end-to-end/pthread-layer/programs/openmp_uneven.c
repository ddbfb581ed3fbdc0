/* Many short parallel regions, in which one thread has twice the work, in a library's procedures: the other thread
 * waits at the end of each region, only inside OpenMP's library. */
#include <math.h>
#include <stdio.h>

#define ROUNDS 300
#define COUNT  40000

static double values[COUNT];

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(static) num_threads(2)
    for (int k = 0; k < COUNT; k++) {
      values[k] = sin(values[k] + k);
      if (k < COUNT / 2) values[k] += cos(values[k] + round);
    }
  }
  printf("%f\n", values[7]);
}
