/* Work and span of OpenMP's regions, each case by its name, of counted units: see ../span.test.ts. */
#include <omp.h>
#define UNITS_ALONE
#include "units.h"

PROCEDURE static void alone(uint64_t count) { units(count); }
PROCEDURE static void part(uint64_t count) { units(count); }
PROCEDURE static void longer(uint64_t count) { units(count); }

/* 200 alone, 8 parts of 100 by 4 threads: work 1000, span 400. */
static void loop(void) {
  alone(200);
#pragma omp parallel for schedule(static, 1) num_threads(4)
  for (int k = 0; k < 8; k++) part(100);
}
/* Short regions: 40 times 5 alone, 2 times 10. */
static void often(void) {
  for (int round = 0; round < 40; round++) {
    alone(5);
#pragma omp parallel num_threads(2)
    part(10);
  }
}
/* One of two is late at each barrier: work 10, span 8. */
static void barrier(void) {
#pragma omp parallel num_threads(2)
  for (int k = 0; k < 50; k++) {
    if (k % 2 == omp_get_thread_num())
      longer(8);
    else
      part(2);
#pragma omp barrier
  }
}
/* 100 alone, then 300 in parallel with 100: work 500, span 400. */
static void sections(void) {
  alone(100);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    longer(300);
#pragma omp section
    part(100);
  }
}
/* Regions in a region: 100 alone, 2 times 50, 4 times 50: work 400, span 200. */
static void nested(void) {
  omp_set_max_active_levels(2);
  alone(100);
#pragma omp parallel num_threads(2)
  {
    part(50);
#pragma omp parallel num_threads(2)
    part(50);
  }
}

/* It is not determined which thread executes how many; most of them at the barrier: work 440, span 130. */
static void tasks(void) {
  alone(100);
#pragma omp parallel num_threads(2)
  {
#pragma omp single nowait
    for (int k = 0; k < 16; k++) {
#pragma omp task
      part(20);
    }
#pragma omp barrier
    part(10);
  }
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  if (!strcmp(which, "loop"))
    loop();
  else if (!strcmp(which, "often"))
    often();
  else if (!strcmp(which, "barrier"))
    barrier();
  else if (!strcmp(which, "sections"))
    sections();
  else if (!strcmp(which, "nested"))
    nested();
  else if (!strcmp(which, "tasks"))
    tasks();
  else
    return 2;
  return 0;
}
