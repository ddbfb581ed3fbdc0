/* Memory that the instructions around a place access, and where: by the registers that a sample has of it.
 *
 * Owns:    nothing; a function of bytes. x86-64; elsewhere, and without Zydis, nothing is found.
 *
 * A timer finds a thread at the instruction that could not end yet, or one or two behind it. So looked at are that
 * instruction, those that follow it to the next branch, and a few that lead to it without one, as far as the registers
 * in their addresses are not changed in between.
 */
#ifndef QZI_NEAR_ACCESSES_H
#define QZI_NEAR_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

#define QZI_NEAR_ACCESSES 6u
#define QZI_NEAR_BEFORE   48u /* bytes before the place that are looked at: may begin amid an instruction */
#define QZI_NEAR_BEHIND   64u /* and from it on */

enum qzi_locked {
  QZI_LOCKED_NOT,
  QZI_LOCKED_CHANGE, /* adds, or the like: it never has to be tried again */
  QZI_LOCKED_COMPARE /* compares and exchanges */
};
/* At disp + the values of two general registers by their numbers (16: none), the second one times `scale`. */
struct qzi_access {
  int64_t disp;
  uint8_t base, index, scale, bytes;
  uint8_t written, read;
  uint8_t locked; /* in one step that no other thread can divide: enum qzi_locked */
};

/* Accesses around the instruction at pc; bytes: `count` of code from `address` on. What is relative to the stack
 * pointer or to the thread's own block, and what exchanges without comparing, as locks do, is left out. Returns their
 * number.
 */
unsigned qzi_near_accesses(const unsigned char *bytes, size_t count, uint64_t address, uint64_t pc,
                           struct qzi_access access[QZI_NEAR_ACCESSES]);
/* Where one is, with these registers. */
static inline uint64_t qzi_access_at(const struct qzi_access *access, const uint64_t general[16]) {
  return (uint64_t)access->disp + (access->base < 16 ? general[access->base] : 0) +
         (access->index < 16 ? general[access->index] * access->scale : 0);
}

#endif
