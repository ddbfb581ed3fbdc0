/* The same with threads of the package. */
#include <quartz/quartz.h>
#include <stdlib.h>

static volatile int sink;
static long turns;

__attribute__((noinline)) static int leaf(int n) { return n + ++sink; }
__attribute__((noinline)) static int turn(int n) {
  int sum = 0;
  for (int k = 0; k < 10; k++) sum += leaf(n);
  return sum;
}
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
