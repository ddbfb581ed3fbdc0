/* Takes another path each time, so that its profile grows: for tests of disks that become full.
 *
 * expect P 2
 * expect exit 3
 * expect manual
 */
#include <quartz/quartz.h>
#include "work.h"

#define DEPTH 11

static void a(int depth, unsigned path);
static void b(int depth, unsigned path);
static void c(int depth, unsigned path);
static void d(int depth, unsigned path);
static void (*const way[4])(int, unsigned) = {a, b, c, d};

WORK_INLINE void go_on(int depth, unsigned path) {
  if (depth == 0)
    work_sleep(MS / 5);
  else
    way[path & 3](depth - 1, path >> 2);
}
PROCEDURE static void a(int depth, unsigned path) { go_on(depth, path); }
PROCEDURE static void b(int depth, unsigned path) { go_on(depth, path); }
PROCEDURE static void c(int depth, unsigned path) { go_on(depth, path); }
PROCEDURE static void d(int depth, unsigned path) { go_on(depth, path); }

int main(void) {
  uint32_t random = 1;
  for (int k = 0; k < 8000; k++) {
    random = random * 1103515245u + 12345u;
    go_on(DEPTH, random >> 4);
  }
  return 3;
}
