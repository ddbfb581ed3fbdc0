/* Two threads for 400 ms: one yields until the time is up; the other one yields after each 50 us of work. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include "work.h"

static atomic_int up;

static void *impatient(void *unused) {
  while (!up) sched_yield();
  return NULL;
}
static void *polite(void *unused) {
  while (!up) {
    work_us(50);
    sched_yield();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, impatient, NULL);
  pthread_create(&threads[1], NULL, polite, NULL);
  usleep(400000);
  up = 1;
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
