/* See code_flow.h. */
#include "code_flow.h"

#ifdef QZI_DECODES
#include <Zydis/Zydis.h>

/* Opcode 0xff: ModRM.reg selects. */
static enum qzi_goes goes_of_group(unsigned reg) {
  if (reg == 2 || reg == 3) return QZI_GOES_CALL;
  return reg == 4 || reg == 5 ? QZI_GOES_ANYWHERE : QZI_GOES_ON;
}

/* Opcodes of one byte (without prefixes). Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * appendix A.2. */
static enum qzi_goes goes_of_byte(const ZydisDecodedInstruction *found) {
  switch (found->opcode) {
  case 0xe0:
  case 0xe1:
  case 0xe2:
  case 0xe3: return QZI_GOES_IF;   /* loopne, loope, loop, jrcxz */
  case 0xe8: return QZI_GOES_CALL; /* call */
  case 0xe9:
  case 0xeb: return QZI_GOES_TO; /* jmp */
  case 0xff: return goes_of_group(found->raw.modrm.reg);
  case 0xc2:
  case 0xc3: return QZI_GOES_BACK; /* ret */
  case 0xca:
  case 0xcb:
  case 0xcc:
  case 0xcd:
  case 0xcf:
  case 0xf1:
  case 0xf4: return QZI_GOES_AWAY; /* far ret, int3, int, iret, int1, hlt */
  case 0xc6:
  case 0xc7: return found->raw.modrm.reg == 7 ? QZI_GOES_AWAY : QZI_GOES_ON; /* xabort, xbegin */
  default: return found->opcode >= 0x70 && found->opcode <= 0x7f ? QZI_GOES_IF : QZI_GOES_ON;
  }
}

/* Opcodes of two bytes, 0f ... */
static enum qzi_goes goes_of_two(const ZydisDecodedInstruction *found) {
  switch (found->opcode) {
  case 0x05: return QZI_GOES_KERNEL; /* syscall */
  case 0x07:
  case 0x0b:
  case 0x34:
  case 0x35:
  case 0xb9:
  case 0xff: return QZI_GOES_AWAY; /* sysret, ud2, sysenter, sysexit, ud1, ud0 */
  default: return found->opcode >= 0x80 && found->opcode <= 0x8f ? QZI_GOES_IF : QZI_GOES_ON;
  }
}

enum qzi_goes qzi_x86_goes(const ZydisDecodedInstruction *found) {
  if (found->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return QZI_GOES_ON;
  if (found->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) return goes_of_byte(found);
  return found->opcode_map == ZYDIS_OPCODE_MAP_0F ? goes_of_two(found) : QZI_GOES_ON;
}

/* Without operands, which take Zydis most of the time. */
static int step_x86(const unsigned char *bytes, size_t left, struct qzi_code_step *step) {
  /* Thread-local, because two threads decode: the one of snapshots, and the one that reads debug information. */
  static _Thread_local ZydisDecoder decoder;
  static _Thread_local int ready;
  ZydisDecodedInstruction found;
  if (!ready) {
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)))
      return 0;
    ready = 1;
  }
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, left, &found))) return 0;
  *step = (struct qzi_code_step){.length = found.length, .goes = qzi_x86_goes(&found)};
  if (found.raw.imm[0].is_relative) step->target = (int64_t)found.length + found.raw.imm[0].value.s;
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
    step->goes = operation == 0   ? QZI_GOES_ANYWHERE /* br */
                 : operation == 1 ? QZI_GOES_CALL     /* blr */
                 : operation == 2 ? QZI_GOES_BACK     /* ret */
                                  : QZI_GOES_AWAY;    /* eret, drps */
  } else if ((word & 0xfc000000) == 0x94000000) {     /* bl */
    step->goes = QZI_GOES_CALL;
  } else if ((word & 0xffe0001f) == 0xd4000001) { /* svc */
    step->goes = QZI_GOES_KERNEL;
  } else if ((word & 0xffe0001f) == 0xd4200000 || (word & 0xffe0001f) == 0xd4400000) { /* brk, hlt */
    step->goes = QZI_GOES_AWAY;
  }
  return 1;
}

int qzi_code_step(enum qzi_machine machine, const unsigned char *bytes, size_t left, struct qzi_code_step *step) {
  return machine == QZI_AARCH64 ? step_aarch64(bytes, left, step) : step_x86(bytes, left, step);
}
