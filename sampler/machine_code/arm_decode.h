/* Decoder of the aarch64 instructions that occur in loops that wait.
 *
 * Owns:    nothing; a function of bytes. It runs on every machine.
 * Must not: give a kind to an instruction whose effect it does not know: that is ARM_UNKNOWN, as are all instructions
 * that store, call, or use floating-point registers.
 */
#ifndef QZI_ARM_DECODE_H
#define QZI_ARM_DECODE_H

#include <stdint.h>

enum arm_kind {
  ARM_UNKNOWN,
  ARM_NOTHING,  /* hints (yield, wfe), barriers, prefetches */
  ARM_CONSTANT, /* to = constant: an immediate, an address of code or data, or a literal */
  ARM_CLOCK,    /* to = the clock's count */
  ARM_STEP,     /* to = from[0] plus a constant */
  ARM_MOVE,     /* to = from[0], or from[1] unless that is the zero register */
  ARM_COMPUTE,  /* to = a result computed from all of from */
  ARM_COMPARE,  /* sets only flags, from from[0] and from[1] */
  ARM_LOAD,     /* to, also = memory at from[0], from[1] */
  ARM_TRY,      /* exchange at from[0]: to = whether from[1] was stored there, or the previous value */
  ARM_BRANCH    /* conditional branch by flags or by from[0]; code_flow.h has its target */
};
#define ARM_ZERO 31u /* zero register; as the base of an address: the stack pointer */
struct arm_instruction {
  enum arm_kind kind;
  unsigned to, also, from[3]; /* registers; ARM_ZERO: none */
  int sets_flags, reads_flags;
  int stack; /* 1: from[0] is the stack pointer */
};

struct arm_instruction qzi_arm_decode(uint32_t word);

#endif
