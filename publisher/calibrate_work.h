/* What a calibrated operation stands between: the least that it adds, and the most, depend on what the program does
 * there.
 *
 * Must not: take a library's or the system's help: only the processor's time counts.
 *
 * A processor does several instructions at once. Where the program waits for results of its own (a chain of
 * multiplications, of which each needs the one before), what an operation adds is done meanwhile and takes next to
 * nothing. Where the program keeps the processor busy, each added instruction takes its time
 * (docs/evidence/pthread-layer.md, "What it costs"). A loop of nothing but the operation is in between: there it waits
 * for itself.
 */
#ifndef QZI_CALIBRATE_WORK_H
#define QZI_CALIBRATE_WORK_H

#include <stdint.h>

/* Some 14 instructions a round, which don't wait for each other. */
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

/* A multiplication a round, each of which waits for the one before. The result goes through memory, as one in a
 * register that calls don't keep: otherwise what is measured depends on which registers the operation happens to save.
 */
__attribute__((always_inline)) static inline void qzi_work_waiting(volatile double *chain, int rounds) {
  double x = *chain;
  for (int k = 0; k < rounds; k++) x = x * 0.5 + 1;
  *chain = x;
}

#endif
