/* The same program with threads of the package. */
#include <quartz/quartz.h>
#include <stdlib.h>
#include "turns.h"

static long turns;

static void *worker(void *unused) {
  for (long k = 0; k < turns; k++) turn((int)k);
  return unused;
}

int main(int count, char **arguments) {
  qz_thread_t threads[2];
  turns = count > 1 ? atol(arguments[1]) : 1;
  for (int k = 0; k < 2; k++) qz_create(&threads[k], "worker", worker, NULL);
  for (int k = 0; k < 2; k++) qz_join(threads[k], NULL);
  return 0;
}
