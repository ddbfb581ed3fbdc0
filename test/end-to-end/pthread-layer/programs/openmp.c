/* OpenMP, whose run-time library implements its own locks and barriers and spins at them before it blocks: the second
 * thread waits for the first at a barrier for 200 ms of processor time, then the first for the second at the end of the
 * loop; and both compete for one critical section. Prints how long, in ms by the clock, the second waited at the first
 * barrier, and both for the critical section. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"

static unsigned done;
static uint64_t barrier_ns, critical_ns;
static atomic_int there; /* the second thread: on a loaded machine it may begin late */

__attribute__((noinline)) static void region(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1)
      there = 1;
    else
      while (!there) usleep(1000);
    if (omp_get_thread_num() == 0) work_own_us(200000);
    uint64_t met = now_ns();
#pragma omp barrier
    if (omp_get_thread_num() == 1) barrier_ns = now_ns() - met;
    for (int k = 0; k < 50; k++) {
      uint64_t asked = now_ns();
#pragma omp critical(tally)
      {
        critical_ns += now_ns() - asked;
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
  printf("%d %d\n", (int)(barrier_ns / 1000000), (int)(critical_ns / 1000000));
  return done != 100;
}
