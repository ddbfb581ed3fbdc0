/* Waits that the C++ library implements in its headers with the kernel's futex: for each object, on the heap, threads
 * wait 300 ms, at a line that a comment names, counted from when all threads wait. Prints for how long, in ms, and then
 * how long each thread took by its own clock. Built by several compilers, with and without optimization. */
#include <atomic>
#include <barrier>
#include <chrono>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>
#include <cstdio>
#include <unistd.h>
#include "asleep.h"

struct shared {
  std::latch latch{1};
  std::counting_semaphore<8> semaphore{0};
  std::barrier<> barrier{2};
  std::atomic<int> value{0};
  std::atomic_flag flag;
};
static std::atomic<int> passed;
static std::atomic<int> tids[5];
static int took_ms[5];

static int ms_since(std::chrono::steady_clock::time_point begin) {
  return static_cast<int>((std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(1));
}

static void at_latch(shared &its) {
  its.latch.wait(); // std::latch::wait
  passed++;
}
static void at_semaphore(shared &its) {
  its.semaphore.acquire(); // std::counting_semaphore::acquire
  passed++;
}
static void at_barrier(shared &its) {
  its.barrier.arrive_and_wait(); // std::barrier::arrive_and_wait
  passed++;
}
static void at_value(shared &its) {
  its.value.wait(0); // std::atomic<int>::wait
  passed++;
}
static void at_flag(shared &its) {
  its.flag.wait(false); // std::atomic_flag::wait
  passed++;
}

int main() {
  auto its = std::make_unique<shared>();
  std::vector<std::thread> threads;
  for (auto waits : {at_latch, at_semaphore, at_barrier, at_value, at_flag}) {
    threads.emplace_back([k = threads.size(), waits, &its] {
      auto begin = std::chrono::steady_clock::now();
      tids[k] = gettid();
      waits(*its);
      took_ms[k] = ms_since(begin);
    });
  }
  for (auto &tid : tids) until_asleep(tid);
  auto begin = std::chrono::steady_clock::now();
  usleep(300000);
  int all_ms = ms_since(begin);
  its->latch.count_down();
  its->semaphore.release();
  its->barrier.arrive_and_wait();
  its->value = 1;
  its->value.notify_all();
  its->flag.test_and_set();
  its->flag.notify_all();
  for (auto &thread : threads) thread.join();
  std::printf("%d", all_ms);
  for (int ms : took_ms) std::printf(" %d", ms);
  return passed != 5;
}
