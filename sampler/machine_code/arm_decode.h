/* Instructions of aarch64, as far as loops that wait are made of them.
 *
 * Owns:    nothing; a function of bytes. It runs on every machine.
 * Must not: pass an instruction whose effect it does not know: that is ARM_UNKNOWN, and so are all that store, call, or
 * use registers of floating point.
 */
#ifndef QZI_ARM_DECODE_H
#define QZI_ARM_DECODE_H

#include <stdint.h>

enum arm_kind {
  ARM_UNKNOWN,
  ARM_NOTHING,  /* hints (yield, wfe), barriers, prefetches */
  ARM_CONSTANT, /* to = a number, an address of code or data, a literal */
  ARM_CLOCK,    /* to = the clock's count */
  ARM_STEP,     /* to = from[0] and a number */
  ARM_MOVE,     /* to = from[0], or from[1] where that is not the zero register */
  ARM_COMPUTE,  /* to = calculated from all of from */
  ARM_COMPARE,  /* flags alone, by from[0] and from[1] */
  ARM_LOAD,     /* to, also = memory at from[0], from[1] */
  ARM_TRY,      /* to = whether from[1], or what was there in place of it, was put at from[0]: exchanges */
  ARM_BRANCH    /* goes on by flags, or by from[0]; where it goes: code_flow.h */
};
#define ARM_ZERO 31u /* register: zero; as the base of an address: the stack pointer */
struct arm_instruction {
  enum arm_kind kind;
  unsigned to, also, from[3]; /* ARM_ZERO: none */
  int sets_flags, reads_flags;
  int stack; /* from[0] is the stack pointer */
};

struct arm_instruction qzi_arm_decode(uint32_t word);

#endif
