/* Three threads and a barrier that looks some thousand times before it blocks, 4000 rounds: on one CPU who arrives first looks in vain, then sleeps, and
 * is woken by the last one. Each works for 20 us of processor time in a round, of which the program tells the sum. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 4000
#define MEMBERS 3

static pthread_mutex_t arrival = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static int arrived;
static atomic_int round_now;

__attribute__((noinline)) static void meet(void) {
  pthread_mutex_lock(&arrival);
  int mine = round_now;
  if (++arrived == MEMBERS) {
    arrived = 0;
    round_now++;
    pthread_cond_broadcast(&met);
    pthread_mutex_unlock(&arrival);
    return;
  }
  pthread_mutex_unlock(&arrival);
  for (int looked = 0; looked < 40000 && round_now == mine;) looked++;
  pthread_mutex_lock(&arrival);
  while (round_now == mine) pthread_cond_wait(&met, &arrival);
  pthread_mutex_unlock(&arrival);
}

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static void *member(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    for (uint64_t end = cpu_ns() + 20000; cpu_ns() < end;) continue;
    meet();
  }
  return unused;
}

int main(void) {
  pthread_t threads[MEMBERS];
  struct timespec all;
  for (int k = 0; k < MEMBERS; k++) pthread_create(&threads[k], NULL, member, NULL);
  for (int k = 0; k < MEMBERS; k++) pthread_join(threads[k], NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  printf("%d %lld\n", ROUNDS * MEMBERS * 20, (long long)all.tv_sec * 1000000 + all.tv_nsec / 1000);
  return 0;
}
