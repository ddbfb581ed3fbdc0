/* OpenMP, whose run-time library makes its own locks and barriers and spins at them before it blocks: the second thread waits for the first
 * at a barrier for 200 ms of processor time, then the first for the second at the end of the loop; and both want one critical section. */
#include <omp.h>
#include <stdio.h>
#include "work.h"

static unsigned done;

__attribute__((noinline)) static void region(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) work_own_us(200000);
#pragma omp barrier
    for (int k = 0; k < 50; k++) {
#pragma omp critical(tally)
      {
        work_own_us(2000);
        done++;
      }
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) work_own_us(150000);
  }
  __asm__ volatile(""); /* the call before is no jump */
}

int main(void) {
  region();
  printf("%u\n", done);
  return done != 100;
}
