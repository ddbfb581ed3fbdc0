/* Locks that the program takes through code of libraries: C++'s own that is not inlined, and a wrapper in a header. */
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

// Stands for the header of an installed library.
# 100 "/usr/include/lib/guard.hpp"
struct Guard {
  pthread_mutex_t &mutex;
  __attribute__((noinline)) explicit Guard(pthread_mutex_t &its) : mutex(its) { pthread_mutex_lock(&mutex); }
  __attribute__((noinline)) ~Guard() { pthread_mutex_unlock(&mutex); }
};
# 200 "wrapped_locks.cc"
static void transfer(std::mutex &from, std::mutex &to, unsigned us) {
  std::scoped_lock both(from, to); // line 201
  usleep(us);
}
static void enter(pthread_mutex_t &gate) {
  Guard guard(gate); // line 205
  usleep(2000);
}

int main() {
  std::vector<std::mutex> accounts(400);
  std::vector<pthread_mutex_t> gates(2, PTHREAD_MUTEX_INITIALIZER);
  for (size_t k = 2; k + 1 < accounts.size(); k += 2) transfer(accounts[k], accounts[k + 1], 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; thread++)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; k++) transfer(accounts[0], accounts[1], 2000);
      for (int k = 0; k < 20; k++) enter(gates[0]);
    });
  for (auto &thread : threads) thread.join();
}
