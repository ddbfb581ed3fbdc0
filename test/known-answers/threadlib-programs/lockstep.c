/* A period of exactly 1 ms, the default interval of the sampler: `a` in its first half, `b` in its second. Sampling
 * that fell into step with the program would see one of them more often than the other.
 *
 * expect P 2
 * expect root: npt 1, T 1
 * expect procedure a: npt 0.5, calls 1000
 * expect procedure b: npt 0.5, calls 1000
 */
#include <sys/prctl.h>
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void a(uint64_t end_ns) { work_sleep_until(end_ns); }
PROCEDURE void b(uint64_t end_ns) { work_sleep_until(end_ns); }

int main(void) {
  prctl(PR_SET_TIMERSLACK, 1UL);
  uint64_t begin = work_clock_ns();
  for (uint64_t k = 0; k < 1000; k++) {
    a(begin + k * MS + MS / 2);
    b(begin + k * MS + MS);
  }
  return 0;
}
