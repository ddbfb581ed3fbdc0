// C++ code that is compiled with hooks: exceptions, destructors, locks held by objects.
//
// Owns: nothing. Writer, reader: hooks_test.c drives it.
#include <stdexcept>
#include <string>
#include "hooked.h"

static volatile int sink;

struct Guard {
  NO_INLINE Guard() { take_lock(); }
  NO_INLINE ~Guard() { release_lock(); }
};

NO_INLINE static int thrower(int n) {
  if (n) throw std::runtime_error("thrown " + std::to_string(n));
  return ++sink;
}
NO_INLINE static int middle(int n) {
  Guard guard;
  return thrower(n) + 1;
}
NO_INLINE static int below(int n) {
  EXPECT("called after an exception", (void *)hooked_cxx, (void *)below);
  return n + ++sink;
}
NO_INLINE static int catcher(int n);
NO_INLINE static int in_catch(const char *text) {
  EXPECT("called in a catch clause", (void *)hooked_cxx, (void *)catcher, (void *)in_catch);
  return text[0];
}
NO_INLINE static int catcher(int n) {
  try {
    return middle(n);
  } catch (const std::runtime_error &error) { return in_catch(error.what()); }
}
NO_INLINE static int rethrower(int n) {
  try {
    return n > 5 ? rethrower(n - 1) : thrower(n);
  } catch (...) {
    sink++;
    throw;
  }
}
NO_INLINE static int deep_throw(int n) { return n ? deep_throw(n - 1) + 1 : thrower(1); }

int hooked_cxx(void) {
  for (int k = 0; k < 1000; k++) {
    catcher(1);
    if (k % 100 == 0) below(k);
  }
  below(1);
  EXPECT("after 1000 exceptions", (void *)hooked_cxx);
  for (int k = 0; k < 10; k++) {
    try {
      rethrower(20);
      return 1;
    } catch (const std::exception &) {}
    below(k);
  }
  try {
    deep_throw(1000);
    return 2;
  } catch (const std::exception &) {}
  below(1);
  EXPECT("after an exception from a recursion", (void *)hooked_cxx);
  return 0;
}
