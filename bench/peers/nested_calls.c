/* Compiled with hooks where the program's thread package is Quartz's. Two procedures take turns: direct recursion shows
 * once. */
#include "nested_calls.h"

static void *descend_again(long depth, void *(*then)(void *), void *argument);

__attribute__((noinline)) void *descend(long depth, void *(*then)(void *), void *argument) {
  void *result = depth <= 1 ? then(argument) : descend_again(depth - 1, then, argument);
  __asm__ volatile("" ::: "memory"); /* a call, not a jump */
  return result;
}
__attribute__((noinline)) static void *descend_again(long depth, void *(*then)(void *), void *argument) {
  void *result = depth <= 1 ? then(argument) : descend(depth - 1, then, argument);
  __asm__ volatile("" ::: "memory");
  return result;
}
__attribute__((noinline)) void hooked(void) { __asm__ volatile("" ::: "memory"); }
