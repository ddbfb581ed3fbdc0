/* Parallel regions by their callers: the same one called from two procedures, the second one of which calls it three
 * times as often; tasks; a region in a region. Each iteration works for as long as any other. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "work.h"

static void pause_here(void) { __asm__ volatile("" ::: "memory"); } /* behind a last call, which then is no jump */

__attribute__((noinline)) static void step(void) { work_own_us(3000); }

__attribute__((noinline)) static void solve(void) {
#pragma omp parallel num_threads(2)
  step();
  pause_here();
}
__attribute__((noinline)) static void small_phase(int rounds) {
  for (int k = 0; k < rounds; k++) solve();
  pause_here();
}
__attribute__((noinline)) static void large_phase(int rounds) {
  for (int k = 0; k < 3 * rounds; k++) solve();
  pause_here();
}

__attribute__((noinline)) static void produce(int rounds) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int k = 0; k < 4 * rounds; k++) {
#pragma omp task
    step();
  }
  pause_here();
}

__attribute__((noinline)) static void inner(void) {
#pragma omp parallel num_threads(2)
  for (int k = 0; k < 10; k++) step();
  pause_here();
}
__attribute__((noinline)) static void outer(int rounds) {
#pragma omp parallel num_threads(2)
  for (int k = 0; k < rounds / 10; k++) inner();
  pause_here();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "phases";
  int rounds = argc > 2 ? atoi(argv[2]) : 40;
  omp_set_max_active_levels(2);
  if (!strcmp(what, "phases")) {
    small_phase(rounds);
    large_phase(rounds);
  } else if (!strcmp(what, "tasks")) {
    produce(rounds);
  } else {
    outer(rounds);
  }
  return 0;
}
