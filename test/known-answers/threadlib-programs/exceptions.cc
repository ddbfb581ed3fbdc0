// Exceptions through instrumented procedures: what was left by a throw is charged for nothing that comes later, and a
// lock released while the stack unwinds is no longer held.
//
// expect P 4
// expect root: npt 1, T 1
// expect procedure outer: npt 0.5
// expect procedure thrower: npt 0.5
// expect procedure afterwards: npt 0.5, self 0.5, calls 100
// expect lock account: npt 0.5, T 0.5, acquisitions 100
// expect calls outer -> thrower 100
// expect calls main -> afterwards 100
// expect callers afterwards: main
#include <quartz/quartz.h>
#include <stdexcept>
#include "work.h"

static qz_mutex account;

struct guard {
  __attribute__((no_instrument_function)) guard() { MUST(qz_mutex_lock(&account)); }
  __attribute__((no_instrument_function)) ~guard() { MUST(qz_mutex_unlock(&account)); }
};

PROCEDURE void thrower(int k) {
  work_sleep(4 * MS);
  if (k >= 0) throw std::runtime_error("left");
}

PROCEDURE void outer(int k) {
  guard held;
  thrower(k);
}

PROCEDURE void afterwards() { work_sleep(4 * MS); }

int main() {
  MUST(qz_mutex_init(&account, "account", QZ_ADAPTIVE));
  for (int k = 0; k < 100; k++) {
    try {
      outer(k);
    } catch (const std::runtime_error &) {}
    afterwards();
  }
  return 0;
}
