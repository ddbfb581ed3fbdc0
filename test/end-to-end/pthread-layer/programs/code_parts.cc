/* Loops through code that the compiler moves away (.cold), because it is marked as unlikely; steps are counted, and
 * depend on each other. The test looks for the comments. */
#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t step(uint64_t v) {
  v = v * 6364136223846793005u + 1442695040888963407u;
  __asm__ volatile("" : "+r"(v));
  return v;
}

__attribute__((noinline, cold)) static uint64_t rare(uint64_t v, long steps) {
  while (steps-- > 0) v = step(v);
  return v;
}

static volatile int unlikely = 1;

static volatile long few = 3;

__attribute__((noinline)) static uint64_t parts(uint64_t v, long turns) {
  for (long k = 0; k < turns; k++) {             // around
    for (long j = 0; j < 2000; j++) v = step(v); // near
    if (__builtin_expect(unlikely, 0))
      for (long j = 0; j < few; j++) {               // apart
        for (long i = 0; i < 1000; i++) v = step(v); // within
        v = rare(v, 1000);
      }
  }
  return v;
}

__attribute__((noinline)) static void fail(uint64_t v) {
  if (unlikely) throw v;
}

__attribute__((noinline)) static uint64_t caught(uint64_t v, long turns) {
  for (long k = 0; k < turns; k++) {
    try {
      fail(v);
    } catch (uint64_t it) {
      v = it;
      for (long i = 0; i < 4000; i++) v = step(v); // in a handler
    }
  }
  return v;
}

static volatile uint64_t result;
static volatile long turns = 30000;

int main(void) {
  result = parts(caught(1, turns), turns);
  return 0;
}
