/* longjmp out of procedures, and threads that end deep inside with qz_exit: what was left is charged for nothing that
 * comes later.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect procedure deep: npt 0.25, T 0.25
 * expect procedure leaver: npt 0.25, calls 50
 * expect procedure afterwards: npt 0.5, self 0.5, calls 100
 * expect procedure ends_inside: npt 0.25, calls 50
 * expect procedure body: npt 0.25, calls 50
 * expect callers afterwards: main
 */
#include <setjmp.h>
#include <quartz/quartz.h>
#include "work.h"

static jmp_buf back;
static volatile int leave = 1;

PROCEDURE void deep(int depth) {
  if (depth > 0) {
    deep(depth - 1);
    return;
  }
  work_sleep(4 * MS);
  if (leave) longjmp(back, 1);
}
PROCEDURE void leaver(void) { deep(10); }

PROCEDURE void ends_inside(void) {
  work_sleep(4 * MS);
  qz_exit(NULL);
}
PROCEDURE void *body(void *unused) {
  ends_inside();
  return unused;
}

PROCEDURE void afterwards(void) { work_sleep(4 * MS); }

int main(void) {
  for (volatile int k = 0; k < 50; k++) {
    if (setjmp(back) == 0) leaver();
    afterwards();
    qz_thread_t thread;
    MUST(qz_create(&thread, "leaves", body, NULL));
    MUST(qz_join(thread, NULL));
    afterwards();
  }
  return 0;
}
