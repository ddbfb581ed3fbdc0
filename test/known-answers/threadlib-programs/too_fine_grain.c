/* Grain too fine (Table 2, Harris 1): two processors spawn, and run, tasks that do next to nothing.
 *
 * expect P 2
 * expect untraced
 * expect root: overhead > 0.2
 * expect procedure tiny: calls 4000000
 * expect some finding: overhead
 */
#include <quartz/quartz.h>
#include "work.h"

static int sums[64];

PROCEDURE void tiny(void *sum) { ++*(int *)sum; }

PROCEDURE void batch(void) {
  qz_scope scope = QZ_SCOPE_INIT;
  for (int k = 0; k < 64; k++) qz_spawn(&scope, tiny, &sums[k]);
  qz_sync(&scope);
}

int main(void) {
  for (int k = 0; k < 62500; k++) batch();
  for (int k = 0; k < 64; k++)
    if (sums[k] != 62500) return 1;
  return 0;
}
