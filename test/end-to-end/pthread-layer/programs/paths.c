/* Call paths without hooks. Two workers: in each turn they deposit (the lock `store` held for 30 ms of work in `fill`),
 * think (10 ms of work), and nap (20 ms asleep). main waits for them in `wait_for_all`. A wrapper takes the second
 * lock, and returns with it held. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define PROCEDURE __attribute__((noinline, noclone)) static
#define KEEP()    __asm__ volatile("" ::: "memory") /* the call before is no jump */

static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER, ledger = PTHREAD_MUTEX_INITIALIZER;

/* By its own processor time, which does not depend on the machine's other work. */
__attribute__((always_inline)) static inline void work_us(long us) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    for (volatile int k = 0; k < 50000; k++) continue; /* longer than reading the clock takes */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}
PROCEDURE void fill(void) { work_us(30000); }
PROCEDURE void think(void) { work_us(10000); }
PROCEDURE void nap(void) {
  usleep(20000);
  KEEP();
}
PROCEDURE void deposit(void) {
  pthread_mutex_lock(&store);
  fill();
  pthread_mutex_unlock(&store);
  KEEP();
}
PROCEDURE void open_ledger(void) {
  pthread_mutex_lock(&ledger);
  KEEP();
}
PROCEDURE void enter(void) { work_us(20000); }
PROCEDURE void write_down(void) {
  open_ledger();
  enter();
  pthread_mutex_unlock(&ledger);
  KEEP();
}
static void *worker(void *unused) {
  for (int k = 0; k < 10; k++) {
    deposit();
    think();
    nap();
    write_down();
  }
  return NULL;
}
PROCEDURE void wait_for_all(const pthread_t *threads) {
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  KEEP();
}

int main(void) {
  pthread_t threads[2];
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, NULL);
  wait_for_all(threads);
  return 0;
}
