/* See fast_semaphore.h. */
#include "fast_semaphore.h"

bool qzl_counts_units __attribute__((section("quartz_read_often"))); /* publisher/flag.h */

void qzl_units_look(void) {
#ifndef __SANITIZE_THREAD__ /* which sees calls alone */
  static sem_t ours;        /* of glibc from 2.21 on: the number of units, then that of waiters */
  bool known = true;
  if (qzl_real.sem_init(&ours, 0, 0)) return;
  qzl_counts_units = true;
  for (unsigned units = 0; units < 3; units++) {
    uint32_t number = *(const uint32_t __attribute__((may_alias)) *)(const void *)&ours;
    known = known && number == units && qzl_has_no_unit(&ours) == !units && !qzl_real.sem_post(&ours);
  }
  for (unsigned units = 3; units > 0; units--) known = known && !qzl_has_no_unit(&ours) && !qzl_real.sem_trywait(&ours);
  qzl_counts_units = known && qzl_has_no_unit(&ours);
  qzl_real.sem_destroy(&ours);
#endif
}
