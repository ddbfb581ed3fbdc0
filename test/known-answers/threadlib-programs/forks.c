/* fork: the parent goes on and is measured as if nothing had happened; the child, which exits with 7, has no part in
 * it.
 *
 * expect P 4
 * expect exit 7
 * expect root: npt 1, T 1
 * expect procedure parent_work: npt 1, calls 1
 * expect absent: child_work
 */
#include <sys/wait.h>
#include <unistd.h>
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void parent_work(void) { work_sleep(500 * MS); }
PROCEDURE void child_work(void) { work_sleep(300 * MS); }

int main(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return 98;
  if (child == 0) {
    child_work();
    _exit(7);
  }
  parent_work();
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 97;
  return WEXITSTATUS(status);
}
