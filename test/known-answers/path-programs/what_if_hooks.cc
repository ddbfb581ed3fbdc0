/* Calls that end in all possible ways, of counted units, for hooks of each kind: see ../what-if.test.ts. Of each
 * round's 32 units, `plain`, `thrower`, `again` and `keeps_lock` have 3 each, `other` the rest. */
#include <quartz/quartz.h>
#include <cstdint>

#define UNIT      50000
#define PROCEDURE __attribute__((noinline))

static volatile uint64_t sink;
static inline __attribute__((always_inline, no_instrument_function)) void units(uint64_t count) {
  uint64_t x = count | 1;
  for (uint64_t k = 0; k < count * UNIT; k++) {
    x = x * UINT64_C(6364136223846793005) + 1;
    __asm__ volatile("" : "+r"(x));
  }
  sink = x;
}
static qz_mutex lock;

/* Inlined, with hooks of its own. */
static inline void inlined(int n) { units(n); }
PROCEDURE void leaf(int n) { units(n); }

PROCEDURE void plain(int n) {
  inlined(n);
  leaf(n);
  inlined(n);
}
PROCEDURE void thrower(int n) {
  inlined(n);
  leaf(n);
  inlined(n);
  throw n;
}
PROCEDURE void again(int depth, int n) {
  units(n);
  if (depth) again(depth - 1, n);
  sink = 0;
}
/* Returns with the lock. */
PROCEDURE void keeps_lock(int n) {
  inlined(n);
  qz_mutex_lock(&lock);
  leaf(n);
  inlined(n);
}
PROCEDURE void other(int n) {
  inlined(n);
  leaf(n);
  sink = 0; /* a procedure that ends with a jump to another one has ended before it, for hooks after inlining */
}

int main() {
  qz_mutex_init(&lock, "lock", QZ_ADAPTIVE);
  for (int k = 0; k < 20; k++) {
    plain(1);
    other(2);
    try {
      thrower(1);
    } catch (int) {}
    other(2);
    again(2, 1);
    other(2);
    keeps_lock(1);
    other(2);
    qz_mutex_unlock(&lock);
    other(2);
  }
  return 0;
}
