/* Work in procedures that are always inlined; C and C++. In each turn, crush takes 30 ms of the thread's processor
 * time, of which grind takes 20 in a loop and sift 10. */
#include <pthread.h>
#include <time.h>

#define PROCEDURE __attribute__((noinline)) static
#define INLINED   __attribute__((always_inline)) static inline

INLINED void work_us(long us) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (volatile int k = 0; k < 50000; k = k + 1) continue; /* longer than reading the clock takes */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}
INLINED void grind(int times) {
  for (int k = 0; k < times; k++) work_us(5000);
}
INLINED void crush(void) {
  work_us(10000);
  grind(4);
}
INLINED void sift(void) { work_us(10000); }

PROCEDURE void turn(int *turns) {
  crush();
  sift();
  *turns += 1;
}
static void *worker(void *turns) {
  for (int k = 0; k < 10; k++) turn((int *)turns);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  int turns[2] = {0, 0};
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, &turns[k]);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return turns[0] + turns[1] == 20 ? 0 : 1;
}
