/* Threads that each live for less than the interval between two samples of running threads: two at a time, of which
 * each works for 300 us of processor time in one procedure and 900 us in another one. */
#include <pthread.h>
#include "work.h"

#define ROUNDS 600

__attribute__((noinline)) static void shorter(void) { work_own_us(300); }
__attribute__((noinline)) static void longer(void) { work_own_us(900); }
__attribute__((noinline)) static void *life(void *unused) {
  shorter();
  longer();
  return unused;
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, life, NULL);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  }
}
