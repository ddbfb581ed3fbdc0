/* A lock made of an atomic flag: two threads try it in a loop of their own, and the one that gets it works 2 ms; 100
 * times each. */
#include <pthread.h>
#include <stdatomic.h>
#include "work.h"

static struct table { atomic_flag taken; } first = {ATOMIC_FLAG_INIT}, *table = &first;
static unsigned done;

static void *take(void *unused) {
  for (int k = 0; k < 100; k++) {
    while (atomic_flag_test_and_set_explicit(&table->taken, memory_order_acquire)) {} // the loop
    work_us(2000);
    done++;
    atomic_flag_clear_explicit(&table->taken, memory_order_release);
  }
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], 0, take, 0);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], 0);
  return done != 200;
}
