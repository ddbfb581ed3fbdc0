/* Locks of OpenMP, taken by two threads so many times each: a critical section with a name, one without, an atomic
 * update that GCC makes one of, a lock, one that can be nested, and a try. For `gate`, `door` and the section `slow`,
 * the second thread certainly waits: the first holds them until the kernel says that the other sleeps, or for so long.
 * Prints for how long the second waited for each of the three, in ms by its clock. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"

#define TIMES 1000
static omp_lock_t table, gate;
static omp_nest_lock_t nested, door;
#ifdef __clang__
static long total;
#else
static long double total; /* GOMP_atomic_start */
#endif
static long named, unnamed, under_table, under_nested, tried;
static atomic_int held[3];
static uint64_t waited_ns[3];

/* The first thread has it, and the second asks for it. */
static void has(int which) {
  held[which] = 1;
  usleep(150000);
}
static uint64_t asks(int which) {
  while (!held[which]) usleep(1000);
  return now_ns();
}

__attribute__((noinline)) static void slow(int which, int thread) {
  uint64_t asked = thread ? asks(which) : 0;
#pragma omp critical(slow)
  {
    if (thread)
      waited_ns[which] = now_ns() - asked;
    else
      has(which);
  }
}

int main(void) {
  omp_init_lock(&table);
  omp_init_lock(&gate);
  omp_init_nest_lock(&nested);
  omp_init_nest_lock(&door);
#pragma omp parallel num_threads(2)
  {
    int thread = omp_get_thread_num();
    for (int k = 0; k < TIMES; k++) {
#pragma omp critical(tally)
      named++;
#pragma omp critical
      unnamed++;
#pragma omp atomic
      total += 1;
      omp_set_lock(&table);
      under_table++;
      omp_unset_lock(&table);
      omp_set_nest_lock(&nested);
      omp_set_nest_lock(&nested);
      under_nested++;
      omp_unset_nest_lock(&nested);
      omp_unset_nest_lock(&nested);
    }
#pragma omp barrier
    if (!thread) {
      if (omp_test_lock(&table)) tried++, omp_unset_lock(&table);
      if (omp_test_nest_lock(&nested)) tried++, omp_unset_nest_lock(&nested);
    }
    slow(0, thread);
    if (!thread) {
      omp_set_lock(&gate);
      has(1);
      omp_unset_lock(&gate);
    } else {
      uint64_t asked = asks(1);
      omp_set_lock(&gate);
      waited_ns[1] = now_ns() - asked;
      omp_unset_lock(&gate);
    }
    if (!thread) {
      omp_set_nest_lock(&door);
      has(2);
      omp_unset_nest_lock(&door);
    } else {
      uint64_t asked = asks(2);
      omp_set_nest_lock(&door);
      waited_ns[2] = now_ns() - asked;
      omp_unset_nest_lock(&door);
    }
  }
  for (int k = 0; k < 3; k++) printf("%d ", (int)(waited_ns[k] / 1000000));
  omp_destroy_lock(&table);
  omp_destroy_nest_lock(&nested);
  return named != 2 * TIMES || unnamed != 2 * TIMES || under_table != 2 * TIMES || under_nested != 2 * TIMES ||
         total != 2 * TIMES || tried != 2;
}
