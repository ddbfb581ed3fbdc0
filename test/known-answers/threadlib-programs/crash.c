/* Ends by SIGSEGV after half a unit: the profile is good up to there and says how the program ended.
 *
 * expect P 4
 * expect signal 11
 * expect root: npt 1, T 1
 * expect procedure before: npt 1
 */
#include <sys/resource.h>
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void before(void) { work_sleep(400 * MS); }

int main(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  before();
  volatile uintptr_t nowhere = 16;
  *(volatile int *)nowhere = 0;
  return 0;
}
