/* See x86_decode.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
 * appendix A. */
#include "x86_decode.h"

#ifdef QZI_DECODES

#include <Zydis/Zydis.h>

#define ELSE_OP 0x1000u

static unsigned number_of(ZydisRegister name) {
  if (name == ZYDIS_REGISTER_NONE) return NONE;
  if (name == ZYDIS_REGISTER_RFLAGS || name == ZYDIS_REGISTER_EFLAGS || name == ZYDIS_REGISTER_FLAGS) return FLAGS;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15) return (unsigned)(whole - ZYDIS_REGISTER_RAX);
  if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM15)
    return XMM + (unsigned)(whole - ZYDIS_REGISTER_ZMM0);
  if (name == ZYDIS_REGISTER_RIP || whole == ZYDIS_REGISTER_RIP) return RIP;
  return OTHER;
}

static unsigned op_of(const ZydisDecodedInstruction *found) {
  if (found->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) return ELSE_OP | found->opcode;
  if (found->opcode == 0x90 && found->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && found->mnemonic == ZYDIS_MNEMONIC_XCHG)
    return ELSE_OP | 0x90;
  return found->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? found->opcode
         : found->opcode_map == ZYDIS_OPCODE_MAP_0F    ? 0x100u | found->opcode
                                                       : ELSE_OP | found->opcode;
}

static void look_at(const ZydisDecodedOperand *operand, struct instruction *its) {
  int reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
      writes = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
    unsigned reg = number_of(operand->reg.value);
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG) its->reg = reg;
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM || operand->encoding == ZYDIS_OPERAND_ENCODING_OPCODE)
      its->rm = reg;
    if (reg == NONE || reg == RIP) return;
    /* A register written under a condition may keep its value, so it also counts as read. */
    if (reads || (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)) its->reads |= BIT(reg);
    if (writes) its->writes |= BIT(reg);
  } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
    unsigned base = number_of(operand->mem.base), index = number_of(operand->mem.index);
    if (base != NONE && base != RIP) its->reads |= BIT(base);
    if (index != NONE) its->reads |= BIT(index);
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM) {
      its->loads |= reads;
      its->stores |= writes;
    }
    if (operand->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM) return;
    its->at =
      (struct memory){.base = base,
                      .index = index,
                      .disp = operand->mem.disp.value,
                      .thread = operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS};
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM)
      its->bytes =
        (struct named_bytes){.scale = operand->mem.scale, .count = operand->size / 8, .read = reads, .written = writes};
  }
}

/* Operations of a register with itself that clear it do not depend on its previous value. */
static int clears(const ZydisDecodedInstruction *found, const ZydisDecodedOperand *operands) {
  switch (found->mnemonic) {
  case ZYDIS_MNEMONIC_XOR:
  case ZYDIS_MNEMONIC_SUB:
  case ZYDIS_MNEMONIC_PXOR:
  case ZYDIS_MNEMONIC_XORPS:
  case ZYDIS_MNEMONIC_XORPD:
  case ZYDIS_MNEMONIC_VPXOR:
  case ZYDIS_MNEMONIC_VXORPS:
  case ZYDIS_MNEMONIC_VXORPD: break;
  default: return 0;
  }
  const ZydisDecodedOperand *one = &operands[found->operand_count_visible - 2],
                            *other = &operands[found->operand_count_visible - 1];
  return one->type == ZYDIS_OPERAND_TYPE_REGISTER && other->type == ZYDIS_OPERAND_TYPE_REGISTER &&
         one->reg.value == other->reg.value;
}

/* A locked or, and, ... with a constant that changes nothing: compilers use it as a fence. */
static int leaves_memory(const struct instruction *its) {
  if (its->rm != NONE || (its->op != 0x80 && its->op != 0x81 && its->op != 0x83)) return 0;
  return its->kind == 4 ? its->number == -1
                        : its->number == 0 && (its->kind == 0 || its->kind == 1 || its->kind == 5 || its->kind == 6);
}

int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its) {
  /* Thread-local, because two threads decode: the one of snapshots, and the one that reads debug information. */
  static _Thread_local ZydisDecoder decoder;
  static _Thread_local int ready;
  ZydisDecodedInstruction found;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  *its = (struct instruction){.reg = NONE, .rm = NONE, .at = {NONE, NONE, 0, 0}};
  if (!ready) {
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) return 0;
    ready = 1;
  }
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, left, &found, operands))) return 0;
  its->length = found.length;
  its->op = op_of(&found);
  its->kind = found.raw.modrm.reg;
  its->goes = qzi_x86_goes(&found);
  for (unsigned k = 0; k < found.operand_count; k++) look_at(&operands[k], its);
  if (clears(&found, operands)) its->reads = 0;
  if (found.cpu_flags) {
    const ZydisAccessedFlags *flags = found.cpu_flags;
    if (flags->tested) its->reads |= BIT(FLAGS);
    if (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) its->writes |= BIT(FLAGS);
  }
  if (found.raw.imm[0].size) {
    unsigned unused = 64u - found.raw.imm[0].size;
    its->number = (int64_t)(found.raw.imm[0].value.u << unused) >> unused;
  }
  its->tries = its->rm == NONE && (its->op == 0x86 || its->op == 0x87 || its->op == 0x1b0 || its->op == 0x1b1);
  its->locked = (found.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
                (found.mnemonic == ZYDIS_MNEMONIC_XCHG && its->bytes.count && its->bytes.written);
  its->fences = found.mnemonic == ZYDIS_MNEMONIC_MFENCE || found.mnemonic == ZYDIS_MNEMONIC_LFENCE ||
                found.mnemonic == ZYDIS_MNEMONIC_SFENCE || leaves_memory(its);
  return 1;
}

/* Except those that test rcx (jrcxz, loop). */
int qzi_is_jump(const struct instruction *its) {
  return its->goes == QZI_GOES_TO || (its->goes == QZI_GOES_IF && (its->op < 0xe0 || its->op > 0xe3));
}

uint64_t qzi_writes(const struct instruction *its, int *memory) {
  *memory = 0;
  if (its->goes == QZI_GOES_CALL) return CHANGED;
  *memory = its->stores && !its->tries && !its->fences;
  return its->writes & ~BIT(FLAGS) & ~BIT(OTHER);
}

#else
int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its) { return 0; }
int qzi_is_jump(const struct instruction *its) { return 0; }
uint64_t qzi_writes(const struct instruction *its, int *memory) { return *memory = 0; }
#endif
