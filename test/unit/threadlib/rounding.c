/* Floating-point control belongs to threads: each rounds in the mode that it set, whatever ran in between. */
#include <fenv.h>
#include <quartz/quartz.h>
#include "test/support/check.h"

static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

static void *rounds(void *arg) {
  int mode = modes[(long)arg % 4];
  CHECK(fegetround() == FE_TONEAREST);
  CHECK(fesetround(mode) == 0);
  for (int k = 0; k < 200; k++) {
    volatile double one = 1, three = 3, third = one / three;
    qz_yield();
    if (k % 50 == 0) qz_sleep_ns(10000);
    CHECK(fegetround() == mode && one / three == third);
  }
  return NULL;
}
static void *plain(void *arg) {
  CHECK(fegetround() == FE_TONEAREST);
  return NULL;
}

static void *leaves_it_changed(void *arg) {
  fesetround(FE_UPWARD);
  if (arg) qz_exit(arg);
  return NULL;
}

int main(void) {
  qz_thread_t t[16], other;
  for (long k = 0; k < 16; k++) CHECK(qz_create(&t[k], NULL, rounds, (void *)k) == 0);
  for (int k = 0; k < 50; k++) qz_yield();
  for (int k = 0; k < 16; k++) {
    CHECK(qz_create(&other, NULL, plain, NULL) == 0);
    CHECK(qz_join(t[k], NULL) == 0);
    CHECK(qz_join(other, NULL) == 0);
    CHECK(fegetround() == FE_TONEAREST);
  }
  for (long way = 0; way < 2; way++) { /* called by its joiner, and ended both ways */
    CHECK(qz_create(&other, NULL, leaves_it_changed, (void *)way) == 0);
    CHECK(qz_join(other, NULL) == 0);
    CHECK(fegetround() == FE_TONEAREST);
  }
  return 0;
}
