/* exec: the program replaces itself, half-way, by one that knows nothing of Quartz. What came before is kept.
 *
 * expect P 4
 * expect untraced
 * expect exit 5
 * expect end exec
 * expect procedure before: T > 0.9
 */
#include <unistd.h>
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void before(void) { work_sleep(400 * MS); }

int main(void) {
  before();
  execl("/bin/sh", "sh", "-c", "sleep 0.2; exit 5", (char *)NULL);
  return 98;
}
