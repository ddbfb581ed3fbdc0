/* Waits that bypass the pthread functions: a latch of the C++ library in a static variable, and one on the heap; once;
 * the C library's own lock of a stream. Prints how long it waited at the gate, for the routine and for the stream, in
 * ms, by the waiting threads' clocks. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include "asleep.h"

static std::atomic<int> gate{0};
static std::once_flag flag;
static std::atomic<int> at_gate_tid, inside_tid, second_tid, other_printer_tid;
static std::atomic<bool> preparing, printing;
static int at_gate_ms, routine_ms, stream_ms;

__attribute__((noinline)) static void pass_gate() {
  gate.wait(0);
  __asm__ volatile(""); /* the call before is no jump */
}
__attribute__((noinline)) static void pass(std::atomic<int> &other) { other.wait(0); }
static void prepare() {
  preparing = true;
  until_asleep(second_tid);
  usleep(200000);
}
static void first_use() { std::call_once(flag, prepare); }

static void print_slowly() {
  flockfile(stdout);
  printing = true;
  until_asleep(other_printer_tid);
  usleep(200000);
  funlockfile(stdout);
}
__attribute__((noinline)) static void print() {
  fflush(stdout);
  __asm__ volatile("");
}

/* Waits that are certain: from the time at which a thread reports its number. */
template <typename Wait> static int timed(std::atomic<int> &tid, Wait wait) {
  auto begin = std::chrono::steady_clock::now();
  tid = gettid();
  wait();
  return static_cast<int>((std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(1));
}
static void wait_until(const std::atomic<bool> &it) {
  while (!it) usleep(1000);
}

int main() {
  auto other = std::make_unique<std::atomic<int>>(0);
  std::thread at_gate([] { at_gate_ms = timed(at_gate_tid, pass_gate); }),
    inside([&other] { inside_tid = gettid(), pass(*other); });
  std::thread one(first_use), printer(print_slowly);
  std::thread two([] { wait_until(preparing), routine_ms = timed(second_tid, first_use); });
  std::thread other_printer([] { wait_until(printing), stream_ms = timed(other_printer_tid, print); });
  until_asleep(at_gate_tid);
  until_asleep(inside_tid);
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
  std::printf("%d %d %d\n", at_gate_ms, routine_ms, stream_ms);
}
