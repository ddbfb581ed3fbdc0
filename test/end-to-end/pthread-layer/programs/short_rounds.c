/* Rounds in which main makes two threads that work for the same processor time, waits for both, and then works alone;
 * each part takes less time than passes between two snapshots. Prints main's processor time in ns. */
#include <pthread.h>
#include <stdio.h>
#include "work.h"

#define ROUNDS 1000

__attribute__((noinline)) static void *share(void *unused) {
  work_own_us(200);
  return unused;
}
__attribute__((noinline)) static void alone(void) { work_own_us(200); }

int main(void) {
  struct timespec used;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, share, NULL);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    alone();
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  printf("%llu\n", (unsigned long long)used.tv_sec * 1000000000 + (unsigned long long)used.tv_nsec);
}
