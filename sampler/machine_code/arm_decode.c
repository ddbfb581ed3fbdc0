/* See arm_decode.h. Encodings: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1. */
#include "arm_decode.h"

#define IS(mask, value) ((word & (mask)) == (value))

static unsigned field(uint32_t word, unsigned low) { return word >> low & 31; }

static struct arm_instruction made(enum arm_kind kind, unsigned to, unsigned one, unsigned other, unsigned third) {
  return (struct arm_instruction){.kind = kind, .to = to, .also = ARM_ZERO, .from = {one, other, third}};
}
static struct arm_instruction unknown(void) { return made(ARM_UNKNOWN, ARM_ZERO, ARM_ZERO, ARM_ZERO, ARM_ZERO); }
static struct arm_instruction nothing(void) { return made(ARM_NOTHING, ARM_ZERO, ARM_ZERO, ARM_ZERO, ARM_ZERO); }

/* An instruction that only sets flags is a comparison; one that writes register 31 without setting flags writes the
 * stack pointer. */
static struct arm_instruction with_flags(struct arm_instruction its, int sets) {
  if (!sets && its.to == ARM_ZERO) return unknown();
  its.sets_flags = sets;
  if (sets && its.to == ARM_ZERO) its.kind = ARM_COMPARE;
  return its;
}

static struct arm_instruction immediate(uint32_t word) {
  unsigned to = field(word, 0), from = field(word, 5);
  if (IS(0x1f000000, 0x10000000)) return made(ARM_CONSTANT, to, ARM_ZERO, ARM_ZERO, ARM_ZERO); /* adr, adrp */
  if (IS(0x1f800000, 0x11000000)) {                                                            /* add, sub */
    struct arm_instruction its = made(ARM_STEP, to, from, ARM_ZERO, ARM_ZERO);
    its.stack = from == ARM_ZERO;
    return with_flags(its, word >> 29 & 1);
  }
  if (IS(0x1f800000, 0x12000000)) /* and, orr, eor, ands */
    return with_flags(made(from == ARM_ZERO ? ARM_CONSTANT : ARM_COMPUTE, to, from, ARM_ZERO, ARM_ZERO),
                      IS(0x60000000, 0x60000000));
  if (IS(0x1f800000, 0x12800000)) /* movn, movz; movk */
    return IS(0x60000000, 0x60000000) ? made(ARM_STEP, to, to, ARM_ZERO, ARM_ZERO)
                                      : made(ARM_CONSTANT, to, ARM_ZERO, ARM_ZERO, ARM_ZERO);
  if (IS(0x1f800000, 0x13000000)) /* sbfm, ubfm; bfm */
    return made(ARM_COMPUTE, to, from, IS(0x60000000, 0x20000000) ? to : ARM_ZERO, ARM_ZERO);
  if (IS(0x1f800000, 0x13800000)) return made(ARM_COMPUTE, to, from, field(word, 16), ARM_ZERO); /* extr */
  return unknown();
}

static struct arm_instruction loaded(uint32_t word, unsigned also, unsigned index) {
  struct arm_instruction its = made(ARM_LOAD, field(word, 0), field(word, 5), index, ARM_ZERO);
  its.also = also;
  its.stack = its.from[0] == ARM_ZERO;
  return its;
}

static struct arm_instruction tried(uint32_t word, unsigned to, unsigned with) {
  struct arm_instruction its = made(ARM_TRY, to, field(word, 5), with, ARM_ZERO);
  return its.from[0] == ARM_ZERO ? unknown() : its;
}

/* A load, whose size is in bits 23 and 22; stores are unknown. */
static struct arm_instruction sized(uint32_t word, unsigned index) {
  if (IS(0xc0c00000, 0xc0800000)) return nothing(); /* prfm */
  return IS(0x00c00000, 0) ? unknown() : loaded(word, ARM_ZERO, index);
}

static struct arm_instruction memory(uint32_t word) {
  if (IS(0x3f000000, 0x08000000)) { /* exclusive, ordered, compare and swap */
    if (IS(0x00a00000, 0x00000000))
      return IS(0x00400000, 0) ? tried(word, field(word, 16), field(word, 0)) : loaded(word, ARM_ZERO, ARM_ZERO);
    if (IS(0x00a00000, 0x00a00000)) return tried(word, field(word, 16), field(word, 0)); /* cas */
    return IS(0x00e00000, 0x00c00000) ? loaded(word, ARM_ZERO, ARM_ZERO) : unknown();    /* ldar */
  }
  if (IS(0x3ffffc00, 0x38bfc000)) return loaded(word, ARM_ZERO, ARM_ZERO);             /* ldapr */
  if (IS(0x3f20fc00, 0x38208000)) return tried(word, field(word, 0), field(word, 16)); /* swp */
  if (IS(0xff000000, 0xd8000000)) return nothing();                                    /* prfm */
  if (IS(0x3f000000, 0x18000000)) return made(ARM_CONSTANT, field(word, 0), ARM_ZERO, ARM_ZERO, ARM_ZERO);
  if (IS(0x3f000000, 0x39000000) || IS(0x3f200c00, 0x38000000)) return sized(word, ARM_ZERO); /* ldr, ldur */
  if (IS(0x3f200c00, 0x19000000)) return sized(word, ARM_ZERO);                               /* ldapur */
  if (IS(0x3f200c00, 0x38200800)) return sized(word, field(word, 16));
  if (IS(0x3fc00000, 0x29400000)) return loaded(word, field(word, 10), ARM_ZERO); /* ldp */
  return unknown();
}

static struct arm_instruction registers(uint32_t word) {
  unsigned to = field(word, 0), one = field(word, 5), other = field(word, 16);
  if (IS(0x1f000000, 0x0a000000)) /* and, orr, eor, ands; mov */
    return IS(0x60000000, 0x20000000) && one == ARM_ZERO
             ? made(ARM_MOVE, to, one, other, ARM_ZERO)
             : with_flags(made(ARM_COMPUTE, to, one, other, ARM_ZERO), IS(0x60000000, 0x60000000));
  if (IS(0x1f000000, 0x0b000000)) { /* add, sub */
    struct arm_instruction its = made(ARM_COMPUTE, to, one, other, ARM_ZERO);
    its.stack = one == ARM_ZERO && IS(0x00200000, 0x00200000);
    return with_flags(its, word >> 29 & 1);
  }
  if (IS(0x3fe00410, 0x3a400000)) { /* ccmp, ccmn */
    struct arm_instruction its = made(ARM_COMPARE, ARM_ZERO, one, IS(0x800, 0x800) ? ARM_ZERO : other, ARM_ZERO);
    its.sets_flags = its.reads_flags = 1;
    return its;
  }
  if (IS(0x3fe00800, 0x1a800000)) { /* csel, csinc, csinv, csneg */
    struct arm_instruction its = made(ARM_COMPUTE, to, one, other, ARM_ZERO);
    its.reads_flags = 1;
    return its;
  }
  if (IS(0x7fe00000, 0x1ac00000)) return made(ARM_COMPUTE, to, one, other, ARM_ZERO);        /* shifts, divisions */
  if (IS(0x7fe00000, 0x5ac00000)) return made(ARM_COMPUTE, to, one, ARM_ZERO, ARM_ZERO);     /* rev, clz */
  if (IS(0x7f000000, 0x1b000000)) return made(ARM_COMPUTE, to, one, other, field(word, 10)); /* madd, ... */
  return unknown();
}

static struct arm_instruction branch(uint32_t word) {
  struct arm_instruction its = made(ARM_BRANCH, ARM_ZERO, ARM_ZERO, ARM_ZERO, ARM_ZERO);
  if (IS(0xfc000000, 0x14000000)) return its; /* b */
  if (IS(0x7c000000, 0x34000000)) {           /* cbz, cbnz, tbz, tbnz */
    its.from[0] = field(word, 0);
    return its;
  }
  its.reads_flags = 1;
  if (IS(0xff000000, 0x54000000)) return its;                                     /* b.cond */
  if (IS(0xfffff01f, 0xd503201f) || IS(0xfffff01f, 0xd503301f)) return nothing(); /* hints; barriers */
  if (IS(0xffffff60, 0xd53be040)) return made(ARM_CLOCK, field(word, 0), ARM_ZERO, ARM_ZERO, ARM_ZERO); /* cntvct */
  return unknown();
}

struct arm_instruction qzi_arm_decode(uint32_t word) {
  if (IS(0x1c000000, 0x10000000)) return immediate(word);
  if (IS(0x1c000000, 0x14000000)) return branch(word);
  if (IS(0x0a000000, 0x08000000)) return memory(word);
  if (IS(0x0e000000, 0x0a000000)) return registers(word);
  return unknown();
}
