/* Two spawned calls, one within the other, which their parents call in qz_sync; the inner one prints "ready" and runs
 * until it is killed. For tests of what begins to be recorded meanwhile.
 *
 * expect P 1
 * expect manual
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void part(void) { work_sleep(2 * MS); }

PROCEDURE void inner(void *unused) {
  puts("ready");
  fflush(stdout);
  for (;;) part();
}

static void calls(void (*procedure)(void *)) {
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, procedure, NULL);
  qz_sync(&scope);
}

PROCEDURE void outer(void *unused) { calls(inner); }

PROCEDURE void nothing(void *unused) {}

int main(void) {
  for (int k = 0; k < 3; k++) calls(nothing); /* from then on there are descriptors */
  calls(outer);
}
