/* Direct recursion (a tree: 2^10 - 1 calls, the leaves wait) and mutual recursion. Each procedure is charged once for
 * an instant, however often it is on the stack.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect procedure tree: npt 0.5, T 0.5, parallelism 1, calls 1023
 * expect procedure even: npt 0.5, T 0.5, calls 51
 * expect procedure odd: npt 0.5, T 0.5, calls 50
 * expect calls tree -> tree 1022
 * expect calls main -> tree 1
 * expect calls even -> odd 50
 * expect calls odd -> even 50
 */
#include <quartz/quartz.h>
#include "work.h"

static uint64_t begin_ns;
static unsigned leaves;

PROCEDURE void tree(int depth) {
  if (depth == 0) {
    work_sleep_until(begin_ns + ++leaves * MS); /* the sum of the waits is exact */
    return;
  }
  tree(depth - 1);
  tree(depth - 1);
}

void odd(int count);

PROCEDURE void even(int count) {
  if (count > 0)
    odd(count - 1);
  else
    work_sleep(512 * MS);
}

PROCEDURE void odd(int count) { even(count - 1); }

int main(void) {
  begin_ns = work_clock_ns();
  tree(9);
  even(100);
  return 0;
}
