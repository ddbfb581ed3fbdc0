/* Work to be placed between calibrated operations: the minimum and the maximum cost of an operation depend on the
 * surrounding code of the program.
 *
 * Must not: call a library or the system: only CPU time counts.
 *
 * A CPU executes several instructions in parallel. If the program waits for its own results (a chain of
 * multiplications, each of which needs the one before), the instructions of an operation are executed during these and
 * take almost no time. If the program keeps the CPU busy, each added instruction takes its time
 * (docs/evidence/pthread-layer.md, "What it costs"). A loop of nothing but the operation lies in between: there the
 * operation waits for itself.
 */
#ifndef QZI_CALIBRATE_WORK_H
#define QZI_CALIBRATE_WORK_H

#include <stdint.h>

/* Some 14 instructions per round that do not depend on each other. */
__attribute__((always_inline)) static inline void qzi_work_busy(uint64_t chains[4], int rounds) {
  uint64_t a = chains[0], b = chains[1], c = chains[2], d = chains[3];
  for (int k = 0; k < rounds; k++) {
    a = (a * 5 + 1) ^ b >> 7;
    b = b * 7 + 3;
    c = c * 9 + 5 + d;
    d = d * 11 + 7;
  }
  chains[0] = a, chains[1] = b, chains[2] = c, chains[3] = d;
}

/* One multiplication per round, each of which depends on the one before. The result goes through memory, like a value
 * in a caller-saved register: otherwise the measurement would depend on which registers the operation happens to save.
 */
__attribute__((always_inline)) static inline void qzi_work_waiting(volatile double *chain, int rounds) {
  double x = *chain;
  for (int k = 0; k < rounds; k++) x = x * 0.5 + 1;
  *chain = x;
}

#endif
