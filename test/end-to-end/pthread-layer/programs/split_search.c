/* Two threads search, one of them three times as long: its search is seen while both processors are busy, and while one
 * is. */
#include <pthread.h>
#include "work.h"

__attribute__((noinline)) static void search(uint64_t ms) { work_own_us(1000 * ms); }
static void *worker(void *ms) {
  for (int k = 0; k < 10; k++) search((uint64_t)ms / 10);
  return ms;
}

int main(void) {
  pthread_t threads[2];
  for (uint64_t k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, (void *)(k == 0 ? 300 : 900ul));
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
}
