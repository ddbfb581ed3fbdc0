/* Waits that go past the pthread functions: a latch of the C++ library for a static variable, and one on the heap; once; the C library's
 * own lock of a stream. */
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::atomic<int> gate{0};
static std::once_flag flag;

__attribute__((noinline)) static void pass_gate() {
  gate.wait(0);
  __asm__ volatile(""); /* the call before is no jump */
}
__attribute__((noinline)) static void pass(std::atomic<int> &other) { other.wait(0); }
static void prepare() { usleep(200000); }
static void first_use() { std::call_once(flag, prepare); }

static void print_slowly() {
  flockfile(stdout);
  usleep(200000);
  funlockfile(stdout);
}
__attribute__((noinline)) static void print() {
  usleep(50000);
  fflush(stdout);
  __asm__ volatile("");
}

int main() {
  auto other = std::make_unique<std::atomic<int>>(0);
  std::thread at_gate(pass_gate), inside([&other] { pass(*other); }), one(first_use), two(first_use), printer(print_slowly), other_printer(print);
  usleep(300000);
  gate = 1;
  gate.notify_all();
  *other = 1;
  other->notify_all();
  at_gate.join();
  inside.join();
  one.join();
  two.join();
  printer.join();
  other_printer.join();
}
