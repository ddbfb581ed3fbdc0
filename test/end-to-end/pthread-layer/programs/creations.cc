/* Threads that are created in different places, and work; the argument selects the case. The work is counted. */
#include <pthread.h>
#include <string.h>
#include <thread>
#include <vector>
#define UNITS_ALONE
#include "test/known-answers/path-programs/units.h"

static void *body(void *count) {
  units(*static_cast<uint64_t *>(count));
  return nullptr;
}

/* Two threads of `count` units each. */
PROCEDURE static void solve(uint64_t count) {
  pthread_t ids[2];
  for (pthread_t &id : ids)
    if (pthread_create(&id, nullptr, body, &count)) exit(99);
  for (pthread_t id : ids) pthread_join(id, nullptr);
}
PROCEDURE static void small_phase() {
  solve(100);
  __asm__ volatile("");
}
PROCEDURE static void large_phase() {
  solve(150);
  solve(150);
  __asm__ volatile("");
}

/* A std::thread, from a lambda; its creator is a thread itself. */
PROCEDURE static void inner() {
  std::thread([] { units(200); }).join();
  __asm__ volatile("");
}
PROCEDURE static void outer() {
  std::thread(inner).join();
  __asm__ volatile("");
}

/* Each creates two more, until there are 31. */
static void *halve(void *depth) {
  intptr_t left = reinterpret_cast<intptr_t>(depth);
  pthread_t ids[2];
  units(10);
  if (!left) return nullptr;
  for (pthread_t &id : ids)
    if (pthread_create(&id, nullptr, halve, reinterpret_cast<void *>(left - 1))) exit(99);
  for (pthread_t id : ids) pthread_join(id, nullptr);
  return nullptr;
}
PROCEDURE static void divide() {
  halve(reinterpret_cast<void *>(4));
  __asm__ volatile("");
}

/* More threads at a time than fit into the session. */
PROCEDURE static void swarm() {
  uint64_t count = 1;
  std::vector<pthread_t> ids(200);
  for (int round = 0; round < 5; round++) {
    for (pthread_t &id : ids)
      if (pthread_create(&id, nullptr, body, &count)) exit(99);
    for (pthread_t id : ids) pthread_join(id, nullptr);
  }
}

/* std::threads of two procedures: the C++ library creates them all by the same call. */
PROCEDURE static void three() {
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; k++) threads.emplace_back([] { units(10); });
  for (std::thread &thread : threads) thread.join();
}
static void of_a_pair() { units(10); }
PROCEDURE static void two() {
  std::thread first(of_a_pair), second(of_a_pair);
  first.join();
  second.join();
}

int main(int, char **arguments) {
  if (!strcmp(arguments[1], "phases")) {
    small_phase();
    large_phase();
  } else if (!strcmp(arguments[1], "nested")) {
    outer();
  } else if (!strcmp(arguments[1], "divide")) {
    divide();
  } else if (!strcmp(arguments[1], "swarm")) {
    swarm();
  } else if (!strcmp(arguments[1], "places")) {
    three();
    two();
  }
  return 0;
}
