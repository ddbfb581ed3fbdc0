/* Lace: tasks on one shared stack for each worker. */
#include <lace.h>
#define TASK_PROCEDURE(procedure) VOID_TASK_1(procedure, void *, argument)
#define TASK_END
#define LEAVE                           return
#define CALL_HERE(procedure, argument)  CALL(procedure, argument)
#define CALL_FIRST(procedure, argument) RUN(procedure, argument)
#define SCOPE(s)                        int s = 0
#define FORK(s, procedure, argument)    (SPAWN(procedure, argument), s++)
#define JOIN(s, procedure) \
  while (s-- > 0) SYNC(procedure)
#include "tasks.h"

VOID_TASK_0(empty) { __asm__ volatile(""); }
TASK_1(long, fib_task, long, n) {
  if (n < 2) return n;
  SPAWN(fib_task, n - 1);
  long b = CALL(fib_task, n - 2);
  long a = SYNC(fib_task);
  return a + b;
}
TASK_1(double, spawn_task, long, n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    SPAWN(empty);
    SYNC(empty);
  }
  return now_ns() - begin;
}
TASK_1(double, batch_task, long, n) {
  double begin = now_ns();
  for (long k = 0; k < n; k += 1000) {
    for (int i = 0; i < 1000; i++) SPAWN(empty);
    for (int i = 0; i < 1000; i++) SYNC(empty);
  }
  return now_ns() - begin;
}
static double spawn(long n) { return RUN(spawn_task, n); }
static double spawn_batch(long n) { return RUN(batch_task, n); }
static double fib(long n) {
  double begin = now_ns();
  long value = RUN(fib_task, n);
  double took = now_ns() - begin;
  must(value == serial_fib(n), "fib is wrong");
  return took;
}

int main(int count, char **arguments) {
  must(count >= 3, "usage: PROGRAM CASE PROCESSORS");
  lace_start((unsigned)atoi(arguments[2]), 100000);
  int status = run_tasks(arguments[1], atoi(arguments[2]));
  lace_stop();
  return status;
}
