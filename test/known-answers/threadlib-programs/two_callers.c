/* Two serial phases that call the same procedure: each caller is charged for its own calls of it, inclusively, and the
 * counts say how often each called.
 *
 * expect P 4
 * expect root: npt 1, T 1
 * expect procedure copy: npt 1, self 1, calls 8
 * expect procedure load: npt 0.375, self 0
 * expect procedure store: npt 0.625, self 0
 * expect calls load -> copy 3
 * expect calls store -> copy 5
 * expect callers copy: load, store
 * expect order npt: procedure copy > procedure store > procedure load
 * expect finding 1: serial
 */
#include <quartz/quartz.h>
#include "work.h"

PROCEDURE void copy(void) { work_sleep(100 * MS); }

PROCEDURE void load(void) {
  for (int k = 0; k < 3; k++) copy();
}

PROCEDURE void store(void) {
  for (int k = 0; k < 5; k++) copy();
}

int main(void) {
  load();
  store();
  return 0;
}
