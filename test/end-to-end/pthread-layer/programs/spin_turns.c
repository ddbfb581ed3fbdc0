/* Two threads take turns: each waits in a loop until the other one has written, then has work for a tenth of a
 * microsecond. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { TURNS = 1000000, CELLS = 64 };
static _Alignas(64) atomic_int turn;
static _Alignas(64) unsigned long cells[CELLS];

__attribute__((noinline)) static void step(unsigned long by) {
  for (int k = 0; k < CELLS; k++) cells[k] = cells[k] * 3 + by;
}
static void *plays(void *which) {
  int me = (int)(intptr_t)which;
  for (int k = 0; k < TURNS; k++) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != me) continue; /* waits */
    step((unsigned long)me);
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, plays, (void *)1);
  plays(NULL);
  pthread_join(other, NULL);
  return 0;
}
