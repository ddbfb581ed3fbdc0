/* oneTBB: task groups. */
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <functional>

using range = tbb::blocked_range<std::int64_t>;
#define SCOPE(s) tbb::task_group s
#define FORK(s, procedure, argument)      \
  do {                                    \
    void *own_ = argument;                \
    (s).run([own_] { procedure(own_); }); \
  } while (0)
#define JOIN(s, procedure) (s).wait()
#define LOOP(from, to, body, argument) \
  tbb::parallel_for(range(from, to), [&](const range &part) { body(part.begin(), part.end(), argument); })
#define LOOP_UNEVEN LOOP
#define REDUCE(from, to, body, argument)                                                                 \
  tbb::parallel_reduce(                                                                                  \
    range(from, to), std::int64_t(0),                                                                    \
    [&](const range &part, std::int64_t sum) { return sum + body(part.begin(), part.end(), argument); }, \
    std::plus<std::int64_t>())
#include "tasks.h"

static double spawn(long n) {
  tbb::task_group group;
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    group.run([] {});
    group.wait();
  }
  return now_ns() - begin;
}
static double spawn_batch(long n) {
  tbb::task_group group;
  double begin = now_ns();
  for (long k = 0; k < n; k += 1000) {
    for (int i = 0; i < 1000; i++) group.run([] {});
    group.wait();
  }
  return now_ns() - begin;
}
static long fib_call(long n) {
  if (n < 2) return n;
  long a, b;
  tbb::task_group group;
  group.run([&] { a = fib_call(n - 1); });
  b = fib_call(n - 2);
  group.wait();
  return a + b;
}
static double fib(long n) {
  double begin = now_ns();
  long value = fib_call(n);
  double took = now_ns() - begin;
  must(value == serial_fib(n), "fib is wrong");
  return took;
}

int main(int count, char **arguments) {
  must(count >= 3, "usage: PROGRAM CASE PROCESSORS");
  int processors = atoi(arguments[2]), status = 1;
  tbb::global_control most(tbb::global_control::max_allowed_parallelism, (size_t)processors);
  tbb::task_arena arena(processors);
  arena.execute([&] { status = run_tasks(arguments[1], processors); });
  return status;
}
