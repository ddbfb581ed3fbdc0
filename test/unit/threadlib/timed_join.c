/* Joins whose time-outs expire just when the thread ends: whichever comes first, the joiner continues once, and the
 * thread is joined once. */
#include <errno.h>
#include <quartz/quartz.h>
#include "test/support/check.h"

enum { JOINERS = 4, TURNS = 2000 };

static struct timespec in_ns(long ns) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ns;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  return t;
}
static void *ends_soon(void *arg) {
  for (long k = (long)arg % 8; k > 0; k--) qz_yield();
  if ((long)arg % 3 == 0) qz_sleep_ns((uint64_t)(long)arg % 30000);
  return arg;
}
static void *joiner(void *arg) {
  for (long k = 0; k < TURNS; k++) {
    qz_thread_t thread;
    void *result = NULL;
    CHECK(qz_create(&thread, NULL, ends_soon, (void *)(k * 37 + 1)) == 0);
    int error;
    for (long turn = 0;; turn++) {
      struct timespec until = in_ns((k * 13 + turn * 7919) % 40000);
      if ((error = qz_timedjoin(thread, &result, &until)) != ETIMEDOUT) break;
      if (turn == 3) { /* later waits must not be mistaken for the one that timed out */
        error = qz_join(thread, &result);
        break;
      }
      if (turn % 2) qz_sleep_ns(1000);
    }
    CHECK(error == 0 && (long)result == k * 37 + 1);
  }
  return NULL;
}

int main(void) {
  qz_thread_t t[JOINERS];
  for (long k = 0; k < JOINERS; k++) CHECK(qz_create(&t[k], NULL, joiner, NULL) == 0);
  for (long k = 0; k < JOINERS; k++) CHECK(qz_join(t[k], NULL) == 0);
  return 0;
}
