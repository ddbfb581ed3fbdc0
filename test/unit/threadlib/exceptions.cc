// C++ exceptions: through frames of a thread that moves between processors, in threads called by their joiner, and
// uncaught ones.
#include <quartz/quartz.h>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include "test/support/check.h"

struct Counted {
  static int alive;
  Counted() { __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED); }
  ~Counted() { __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED); }
};
int Counted::alive;

static void deep(int left, int value) {
  Counted counted;
  qz_yield();
  if (left == 0) throw std::runtime_error(std::to_string(value));
  deep(left - 1, value);
}

static void *throws(void *arg) {
  int right = 0;
  for (int k = 0; k < 20; k++) {
    try {
      deep(20, k);
    } catch (const std::runtime_error &error) {
      qz_yield();
      if (error.what() == std::to_string(k)) right++;
    }
  }
  return reinterpret_cast<void *>(static_cast<long>(right));
}

static void *uncaught(void *) { throw std::runtime_error("nobody catches it"); }

[[noreturn]] static void terminated() {
  ssize_t n = write(1, "terminated\n", 11);
  _exit(n == 11 ? 3 : 4);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    std::set_terminate(terminated);
    qz_thread_t thread;
    qz_create(&thread, "thrower", uncaught, nullptr);
    if (!strcmp(argv[1], "own")) qz_yield();
    try {
      qz_join(thread, nullptr);
    } catch (...) {
      return 5; // it must not reach the joiner
    }
    return 6;
  }
  qz_thread_t thread[50];
  for (auto &t : thread) CHECK(qz_create(&t, nullptr, throws, nullptr) == 0);
  for (auto &t : thread) {
    void *result;
    CHECK(qz_join(t, &result) == 0 && reinterpret_cast<long>(result) == 20);
  }
  CHECK(Counted::alive == 0);
  return 0;
}
