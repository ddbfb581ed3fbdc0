/* See code_flow.h. */
#include "code_flow.h"

#include "x86_decode.h"

#ifdef QZI_DECODES
static int step_x86(const unsigned char *bytes, size_t left, struct qzi_code_step *step) {
  struct instruction its;
  if (!qzi_decode(bytes, left, &its)) return 0;
  int jumps = qzi_is_jump(&its), anywhere = its.op == 0xff && (its.kind == 4 || its.kind == 5);
  *step = (struct qzi_code_step){.length = its.length, .target = (int64_t)its.length + its.number};
  switch (its.flow) {
  case FLOW_ON:
  case FLOW_CALL: step->goes = QZI_GOES_ON; break;
  case FLOW_IF: step->goes = jumps ? QZI_GOES_IF : QZI_GOES_ON; break;
  case FLOW_JUMP: step->goes = jumps ? QZI_GOES_TO : QZI_GOES_AWAY; break;
  case FLOW_ELSEWHERE: step->goes = anywhere ? QZI_GOES_ANYWHERE : QZI_GOES_AWAY; break;
  }
  return 1;
}
#else
static int step_x86(const unsigned char *bytes, size_t left, struct qzi_code_step *step) { return 0; }
#endif

/* The signed number in bits low .. low + count - 1, times 4: a displacement in bytes. */
static int64_t displacement(uint32_t word, unsigned low, unsigned count) {
  return ((int64_t)(int32_t)(word << (32 - low - count)) >> (32 - count)) * 4;
}

/* Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1.93, "Branches, Exception Generating and System
 * instructions". */
static int step_aarch64(const unsigned char *bytes, size_t left, struct qzi_code_step *step) {
  if (left < 4) return 0;
  uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  *step = (struct qzi_code_step){.length = 4, .goes = QZI_GOES_ON};
  if (!(word >> 16)) { /* permanently undefined */
    step->goes = QZI_GOES_AWAY;
  } else if ((word & 0xfc000000) == 0x14000000) { /* b */
    step->goes = QZI_GOES_TO;
    step->target = displacement(word, 0, 26);
  } else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) { /* b.cond, bc.cond; cbz, cbnz */
    step->goes = QZI_GOES_IF;
    step->target = displacement(word, 5, 19);
  } else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
    step->goes = QZI_GOES_IF;
    step->target = displacement(word, 5, 14);
  } else if ((word & 0xfe000000) == 0xd6000000) { /* branch through a register; bit 24: with pointer authentication */
    unsigned operation = word >> 21 & 7;
    if (operation == 0)
      step->goes = QZI_GOES_ANYWHERE;
    else if (operation != 1) /* blr */
      step->goes = QZI_GOES_AWAY;
  } else if ((word & 0xffe0001f) == 0xd4200000 || (word & 0xffe0001f) == 0xd4400000) { /* brk, hlt */
    step->goes = QZI_GOES_AWAY;
  }
  return 1;
}

int qzi_code_step(enum qzi_machine machine, const unsigned char *bytes, size_t left, struct qzi_code_step *step) {
  return machine == QZI_AARCH64 ? step_aarch64(bytes, left, step) : step_x86(bytes, left, step);
}
