/* Three threads and a barrier that polls some thousand times before it blocks, 4000 rounds: on one CPU, the threads
 * that arrive first poll without success, then sleep, and are woken by the last one. Each works for some 20 us in a
 * round: multiplications that depend on each other, because a loop that reads a clock until a time is reached would
 * make no progress either. The program prints how much of its processor time was that work, by the threads' own clocks,
 * and all of its processor time, in us. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS  4000
#define MEMBERS 3

static pthread_mutex_t arrival = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static int arrived;
static atomic_int round_now;
static atomic_ulong working_ns;
#define WORK 5000 /* multiplications, of 4 cycles each */

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
/* The result is used, so that it is computed. */
__attribute__((noinline)) static double work(double x) {
  for (int k = 0; k < WORK; k++) x = x * 0.999 + 1;
  return x;
}
static void *member(void *unused) {
  double x = 1;
  uint64_t working = 0;
  for (int k = 0; k < ROUNDS; k++) {
    uint64_t begin = cpu_ns();
    x = work(x);
    working += cpu_ns() - begin;
    meet();
  }
  working_ns += working;
  return x > 0 ? unused : NULL;
}

int main(void) {
  pthread_t threads[MEMBERS];
  struct timespec all;
  for (int k = 0; k < MEMBERS; k++) pthread_create(&threads[k], NULL, member, NULL);
  for (int k = 0; k < MEMBERS; k++) pthread_join(threads[k], NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  printf("%lu %lld\n", (unsigned long)working_ns / 1000, (long long)all.tv_sec * 1000000 + all.tv_nsec / 1000);
  return 0;
}
