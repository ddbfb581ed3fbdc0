/* A thread that holds a lock for 500 ms, and one that tries it in a loop during that time. */
#include <pthread.h>
#include <stdatomic.h>
#include "work.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held;

static void *impatient(void *unused) {
  while (!held) continue;
  while (pthread_mutex_trylock(&busy)) continue;
  pthread_mutex_unlock(&busy);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, impatient, NULL);
  pthread_mutex_lock(&busy);
  held = 1;
  work_us(500000);
  pthread_mutex_unlock(&busy);
  pthread_join(thread, NULL);
  return 0;
}
