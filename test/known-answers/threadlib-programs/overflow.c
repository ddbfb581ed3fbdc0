/* Recursion through more procedures than a profile stack holds: 3 * 500 distinct neighbours deep. What does not fit is
 * counted, and everything is right again after the return.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect procedure ping: npt 0.5
 * expect procedure afterwards: npt 0.5, self 0.5
 * expect callers afterwards: main
 * expect calls ping -> pong 500
 * expect calls pong -> pang 500
 * expect head stackOverflows > 0
 */
#include <quartz/quartz.h>
#include "work.h"

void ping(int depth);
PROCEDURE void pang(int depth) {
  if (depth > 0)
    ping(depth - 1);
  else
    work_sleep(300 * MS);
}
PROCEDURE void pong(int depth) { pang(depth); }
PROCEDURE void ping(int depth) { pong(depth); }
PROCEDURE void afterwards(void) { work_sleep(300 * MS); }

int main(void) {
  ping(499);
  afterwards();
  return 0;
}
