/* Rounds in which main makes two threads that work for the same processor time, waits for both, and then works alone;
 * each part takes less time than passes between two snapshots. Prints main's processor time in ns, and what it used
 * while it worked alone: the rest makes threads and waits for them, beside those that work already. */
#include <pthread.h>
#include <stdio.h>
#include "work.h"

#define ROUNDS 1000

__attribute__((noinline)) static void *share(void *unused) {
  work_own_us(200);
  return unused;
}
__attribute__((noinline)) static void alone(void) { work_own_us(200); }

static unsigned long long used_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (unsigned long long)used.tv_sec * 1000000000 + (unsigned long long)used.tv_nsec;
}

int main(void) {
  unsigned long long alone_ns = 0;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, share, NULL);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    unsigned long long begin_ns = used_ns();
    alone();
    alone_ns += used_ns() - begin_ns;
  }
  printf("%llu %llu\n", used_ns(), alone_ns);
}
