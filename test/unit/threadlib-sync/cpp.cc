/* The C++ header: locks, conditions, channels and futures of C++ types, exceptions out of threads, scopes and loops. */
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include <quartz/quartz.hpp>
#include "test/support/check.h"

using namespace std::chrono_literals;

static int error_of(void (*call)()) {
  try {
    call();
  } catch (const std::system_error &error) { return error.code().value(); }
  return 0;
}

static void locks() {
  qz::mutex mutex("m");
  long count = 0;
  {
    std::vector<qz::thread> threads;
    for (int t = 0; t < 4; t++)
      threads.emplace_back(
        "adder",
        [&](int times) {
          for (int i = 0; i < times; i++) {
            std::lock_guard<qz::mutex> guard(mutex);
            count++;
          }
        },
        1000);
  } /* joined here */
  CHECK(count == 4000);
  std::unique_lock<qz::mutex> lock(mutex);
  CHECK(error_of([] {
          qz::mutex twice;
          std::lock_guard<qz::mutex> guard(twice);
          twice.lock();
        }) == EDEADLK);
  qz::thread([&] {
    CHECK(!mutex.try_lock());
    CHECK(!mutex.try_lock_for(1ms));
    CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() + 1ms));
  }).join();
  lock.unlock();
  CHECK(mutex.try_lock_for(1h));
  mutex.unlock();

  qz::shared_mutex shared("s");
  {
    std::shared_lock<qz::shared_mutex> reader(shared);
    qz::thread([&] {
      std::shared_lock<qz::shared_mutex> other(shared);
      CHECK(!shared.try_lock());
    }).join();
  }
  std::scoped_lock both(mutex, shared);
}

static void conditions() {
  qz::mutex mutex;
  qz::condition changed("changed");
  int step = 0;
  qz::thread other("other", [&] {
    std::unique_lock<qz::mutex> lock(mutex);
    changed.wait(lock, [&] { return step == 1; });
    step = 2;
    changed.notify_all();
  });
  std::unique_lock<qz::mutex> lock(mutex);
  CHECK(!changed.wait_for(lock, 1ms, [&] { return step == 2; }));
  step = 1;
  changed.notify_one();
  CHECK(changed.wait_for(lock, 1h, [&] { return step == 2; }));
  CHECK(!changed.wait_until(lock, std::chrono::system_clock::now() - 1s, [] { return false; }));
}

static void channels() {
  qz::channel<std::string> words(2, "words");
  qz::channel<int> lengths(0, "lengths");
  qz::thread worker("worker", [&] {
    while (auto word = words.receive()) lengths.send(static_cast<int>(word->size()));
    lengths.close();
  });
  qz::thread feeder("feeder", [&] {
    for (const char *word : {"a", "four", "a word that is longer than a small string can hold"})
      CHECK(words.send(word));
    words.close();
    CHECK(!words.send("late"));
  });
  std::vector<int> seen;
  while (auto length = lengths.receive()) seen.push_back(*length);
  CHECK(seen == std::vector<int>{1, 4, 50});
  CHECK(!lengths.try_receive());

  qz::channel<std::vector<int>> left(4); /* what no thread receives must not leak */
  CHECK(left.try_send({1, 2, 3}));
  CHECK(left.send(std::vector<int>(1000)));
  CHECK(!qz::channel<std::string>(1).receive_for(1ms));
}

static void futures() {
  auto sum = qz::spawn("sum", [] { return std::string("result"); });
  CHECK(sum.get() == "result");
  CHECK(sum.ready());
  auto failing = qz::spawn([]() -> int { throw std::runtime_error("in a thread"); });
  bool caught = false;
  try {
    failing.get();
  } catch (const std::runtime_error &error) { caught = std::string(error.what()) == "in a thread"; }
  CHECK(caught);
  qz::promise<int> promise("promise");
  auto future = promise.future();
  CHECK(!future.wait_for(1ms));
  qz::thread setter([&] { promise.set(7); });
  CHECK(future.get() == 7);
  setter.join();
  CHECK(error_of([] {
          qz::promise<void> twice;
          twice.set();
          twice.set();
        }) == EBUSY);
}

static long fib(int n) {
  if (n < 2) return n;
  long a, b;
  qz::scope scope;
  scope.spawn([&] { a = fib(n - 1); });
  b = fib(n - 2);
  scope.sync();
  return a + b;
}

static void fork_join() {
  CHECK(fib(15) == 610);
  bool caught = false;
  try {
    qz::scope scope;
    for (int i = 0; i < 8; i++)
      scope.spawn([i] {
        if (i % 2) throw i;
      });
    scope.sync();
  } catch (int odd) { caught = odd % 2; }
  CHECK(caught);
  std::vector<int> values(10000);
  qz::parallel_for(0, 10000, [&](std::int64_t i) { values[static_cast<size_t>(i)] = static_cast<int>(i); });
  CHECK(std::accumulate(values.begin(), values.end(), 0L) == 49995000);
  caught = false;
  try {
    qz::parallel_for(0, 1000, [](std::int64_t i) {
      if (i == 500) throw std::runtime_error("in a loop");
    });
  } catch (const std::runtime_error &) { caught = true; }
  CHECK(caught);
}

/* Each thread has its own exceptions, although threads inside handlers alternate on one processor. */
static void exceptions_of_threads() {
  qz::barrier barrier(4);
  std::vector<qz::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back(
      "thrower",
      [&](int me) {
        for (int i = 0; i < 50; i++) {
          try {
            throw me * 1000 + i;
          } catch (int mine) {
            barrier.wait();
            try {
              throw std::to_string(me);
            } catch (const std::string &inner) {
              qz::yield();
              CHECK(inner == std::to_string(me));
            }
            barrier.wait();
            try {
              throw; /* the outer one again */
            } catch (int again) { CHECK(again == mine && again == me * 1000 + i); }
          }
        }
      },
      t);
}

static void others() {
  qz::semaphore semaphore(1, "one");
  semaphore.acquire();
  CHECK(!semaphore.try_acquire());
  CHECK(!semaphore.try_acquire_for(1ms));
  semaphore.release();
  CHECK(semaphore.try_acquire());
  qz::barrier barrier(2, "pair", qz::policy::block);
  std::atomic<int> serial{0};
  qz::thread partner([&] { serial += barrier.wait(); });
  serial += barrier.wait();
  partner.join();
  CHECK(serial == 1);
  qz::sleep_for(1ms);
}

int main(int argc, char **) {
  if (argc > 1) { /* misuse that unlock() cannot report */
    static qz::mutex mutex("not held");
    mutex.unlock();
    return 3;
  }
  locks();
  conditions();
  channels();
  futures();
  fork_join();
  exceptions_of_threads();
  others();
  return 0;
}
