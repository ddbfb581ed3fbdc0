/* The procedures with hooks for own.c and regions.c: called inside blocking regions, and left by qz_exit. */
#include <quartz/quartz.h>
#include "own_hooked.h"

#define NO_INLINE __attribute__((noinline))
static volatile int sink;

NO_INLINE void hooked_inner(void) { sink++; }
NO_INLINE void hooked_outer(void (*check)(void)) {
  hooked_inner();
  if (check) check();
  sink++;
}
NO_INLINE void hooked_region(void (*inside)(void), void (*after)(void)) {
  hooked_outer(0);
  qz_blocking_begin("region");
  hooked_outer(inside);
  qz_blocking_end();
  after();
  sink++;
}
NO_INLINE void hooked_deep(int depth, void *result) {
  if (depth < 0) return; /* never, but the compiler must not know that */
  if (!depth) qz_exit(result);
  hooked_deep(depth - 1, result);
  sink++;
}
NO_INLINE void hooked_even(int depth, void (*at_the_end)(void *), void *argument) {
  if (depth)
    hooked_odd(depth - 1, at_the_end, argument);
  else
    at_the_end(argument);
  sink++;
}
NO_INLINE void hooked_odd(int depth, void (*at_the_end)(void *), void *argument) {
  if (depth)
    hooked_even(depth - 1, at_the_end, argument);
  else
    at_the_end(argument);
  sink++;
}
