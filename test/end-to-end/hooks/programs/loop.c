/* Parallel loops whose parts depend on who takes what: each call of the body calls `each` once. */
#include <quartz/quartz.h>

static volatile int64_t sink;

__attribute__((noinline)) static void each(void) { sink++; }
__attribute__((noinline)) static void body(int64_t begin, int64_t end, void *argument) {
  (void)argument;
  each();
  for (int64_t k = begin; k < end; k++) {
    for (int64_t n = 0; n < k; n++) sink = n;
    if (k % 500 == 0) qz_yield();
  }
}
int main(void) {
  for (int round = 0; round < 50; round++) qz_parallel_for(0, 3000, 0, body, 0);
  return 0;
}
