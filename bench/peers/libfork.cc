/* libfork: continuation stealing by coroutines. */
#include <libfork.hpp>
static lf::busy_pool *pool;
/* The name of a procedure is, inside it, that of its own handle, which libfork passes. */
#define TASK_PROCEDURE(procedure) \
  static constexpr auto procedure = []([[maybe_unused]] auto procedure, void *argument) -> lf::task<>
#define TASK_END                        ;
#define LEAVE                           co_return
#define CALL_HERE(procedure, argument)  co_await lf::call(procedure)(argument)
#define CALL_FIRST(procedure, argument) lf::sync_wait(*pool, procedure, (void *)(argument))
#define SCOPE(s)                        (void)0
#define FORK(s, procedure, argument)    co_await lf::fork(procedure)((void *)(argument))
#define JOIN(s, procedure)              co_await lf::join
#include "tasks.h"

static constexpr auto empty = [](auto) -> lf::task<> { co_return; };
static constexpr auto fib_task = [](auto self, long n) -> lf::task<long> {
  if (n < 2) co_return n;
  long a, b;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};
static constexpr auto spawn_task = [](auto, long n) -> lf::task<double> {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    co_await lf::fork(empty)();
    co_await lf::join;
  }
  co_return now_ns() - begin;
};
static constexpr auto batch_task = [](auto, long n) -> lf::task<double> {
  double begin = now_ns();
  for (long k = 0; k < n; k += 1000) {
    for (int i = 0; i < 1000; i++) co_await lf::fork(empty)();
    co_await lf::join;
  }
  co_return now_ns() - begin;
};

static double spawn(long n) { return lf::sync_wait(*pool, spawn_task, n); }
static double spawn_batch(long n) { return lf::sync_wait(*pool, batch_task, n); }
static double fib(long n) {
  double begin = now_ns();
  long value = lf::sync_wait(*pool, fib_task, n);
  double took = now_ns() - begin;
  must(value == serial_fib(n), "fib is wrong");
  return took;
}

int main(int count, char **arguments) {
  must(count >= 3, "usage: PROGRAM CASE PROCESSORS");
  lf::busy_pool workers((std::size_t)atoi(arguments[2]));
  pool = &workers;
  return run_tasks(arguments[1], atoi(arguments[2]));
}
