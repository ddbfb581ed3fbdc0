/* Critical sections of a fraction of a millisecond, inlined into their thread's loop beside work outside of them; one
 * is entered by the program's own wrapper, inlined as well, and is long enough to be sampled twice. */
#include <pthread.h>
#include <stddef.h>
#include "work.h"

#define INLINED __attribute__((always_inline)) static inline

static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER, index_lock = PTHREAD_MUTEX_INITIALIZER;

INLINED void prepare(void) { work_us(150); }
INLINED void book(void) {
  pthread_mutex_lock(&account);
  work_us(150);
  pthread_mutex_unlock(&account);
}
INLINED void enter(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
INLINED void rebuild(void) { work_us(20000); }

static void *serve(void *unused) {
  for (int k = 0; k < 500; k++) {
    prepare();
    book();
  }
  for (int k = 0; k < 12; k++) {
    enter(&index_lock);
    rebuild();
    pthread_mutex_unlock(&index_lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int k = 0; k < 3; k++) pthread_create(&threads[k], NULL, serve, NULL);
  for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
  return 0;
}
