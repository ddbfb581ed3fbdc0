/* Addresses of memory that the instructions around a place access, computed from the registers of a sample.
 *
 * Owns:    nothing; a function of bytes. x86-64; on other machines, and without Zydis, nothing is found.
 *
 * A timer finds a thread at the instruction that has not completed yet, or one or two after it. So the analysis covers
 * that instruction, those that follow it up to the next branch, and a few before it without a branch between, as long
 * as the registers in their addresses are not changed between the access and the place.
 */
#ifndef QZI_NEAR_ACCESSES_H
#define QZI_NEAR_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

#define QZI_NEAR_ACCESSES 6u
#define QZI_NEAR_BEFORE   48u /* bytes examined before the place; they may begin in the middle of an instruction */
#define QZI_NEAR_BEHIND   64u /* bytes examined from the place on */

enum qzi_locked {
  QZI_LOCKED_NOT,
  QZI_LOCKED_CHANGE, /* an atomic addition or the like, which never has to be repeated */
  QZI_LOCKED_COMPARE /* an atomic compare-and-exchange */
};
/* Its address is disp + the values of two general registers, given by number (16: none), the second one times
 * `scale`. */
struct qzi_access {
  int64_t disp;
  uint8_t base, index, scale, bytes;
  uint8_t written, read;
  uint8_t locked; /* enum qzi_locked: whether the access is atomic */
};

/* Finds the accesses around the instruction at pc; bytes: `count` bytes of code from `address` on. Left out are
 * accesses relative to the stack pointer or to the thread-local block, and exchanges without comparison, because locks
 * use them. Returns the number of accesses. */
unsigned qzi_near_accesses(const unsigned char *bytes, size_t count, uint64_t address, uint64_t pc,
                           struct qzi_access access[QZI_NEAR_ACCESSES]);
/* Address of an access with these registers. */
static inline uint64_t qzi_access_at(const struct qzi_access *access, const uint64_t general[16]) {
  return (uint64_t)access->disp + (access->base < 16 ? general[access->base] : 0) +
         (access->index < 16 ? general[access->index] * access->scale : 0);
}

#endif
