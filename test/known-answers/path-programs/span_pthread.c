/* Work and span of plain pthreads, each case by its name, of the same counted units as span.c: see ../span.test.ts. */
#include <pthread.h>
#define UNITS_ALONE
#include "units.h"

#define ROUNDS 200

static pthread_barrier_t round_ends;

static void *does(void *argument) {
  units((uint64_t) * (long *)argument);
  return NULL;
}
static void create(pthread_t *thread, void *(*start)(void *), void *argument) {
  if (pthread_create(thread, NULL, start, argument)) exit(99);
}

static void amdahl(void) {
  long n = 50;
  pthread_t threads[16];
  units(200);
  for (int k = 0; k < 16; k++) create(&threads[k], does, &n);
  for (int k = 0; k < 16; k++) pthread_join(threads[k], NULL);
}

static void *odd_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    units(k % 2 ? 4 : 1);
    pthread_barrier_wait(&round_ends);
  }
  return unused;
}
static void *even_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    units(k % 2 ? 1 : 4);
    pthread_barrier_wait(&round_ends);
  }
  return unused;
}

/* Of each 40 units, 24 are in `longer`, 8 of these in `inner`, and 4 in `shorter`, in holds of 1/200 of a unit each. */
static pthread_mutex_t longer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER,
                       shorter = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t sink;
static void parts(uint64_t of_200) {
  uint64_t x = of_200 | 1;
  for (uint64_t k = 0; k < of_200 * (ROUND / 200); k++) {
    x = x * UINT64_C(6364136223846793005) + 1;
    __asm__ volatile("" : "+r"(x));
  }
  sink = x;
}
static void *locks(void *unused) {
  for (int k = 0; k < ROUNDS / 8; k++) {
    pthread_mutex_lock(&longer);
    units(16);
    pthread_mutex_lock(&inner);
    units(8);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&longer);
    for (int part = 0; part < 4 * 200; part++) {
      pthread_mutex_lock(&shorter);
      parts(1);
      pthread_mutex_unlock(&shorter);
      parts(3);
    }
  }
  return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
  pthread_t a, b;
  create(&a, first, NULL);
  create(&b, second, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  pthread_barrier_init(&round_ends, NULL, 2);
  if (!strcmp(which, "amdahl"))
    amdahl();
  else if (!strcmp(which, "barrier"))
    both(odd_late, even_late);
  else if (!strcmp(which, "locks"))
    both(locks, locks);
  else
    return 2;
  return 0;
}
