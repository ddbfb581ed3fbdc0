/* See perf_sample_record.h. */
#include "perf_sample_record.h"

#include <asm/perf_regs.h>
#include "abi/hash.h"

#if defined(__x86_64__)
enum { AT_FP = PERF_REG_X86_BP, AT_SP = PERF_REG_X86_SP, AT_PC = PERF_REG_X86_IP, AT_COUNT = PERF_REG_X86_IP + 9 };
#define LINK(registers) 0
static const unsigned char numbered[16] = {
  PERF_REG_X86_AX, PERF_REG_X86_CX, PERF_REG_X86_DX, PERF_REG_X86_BX, PERF_REG_X86_SP, PERF_REG_X86_BP,
  PERF_REG_X86_SI, PERF_REG_X86_DI, AT_COUNT - 8,    AT_COUNT - 7,    AT_COUNT - 6,    AT_COUNT - 5,
  AT_COUNT - 4,    AT_COUNT - 3,    AT_COUNT - 2,    AT_COUNT - 1}; /* registers among those of a sample */
#else
enum {
  AT_FP = PERF_REG_ARM64_X29,
  AT_LINK = PERF_REG_ARM64_LR,
  AT_SP = PERF_REG_ARM64_SP,
  AT_PC = PERF_REG_ARM64_PC,
  AT_COUNT
};
#define LINK(registers) (registers)[AT_LINK]
#endif

/* A stack that lies in the buffer in one piece may stay there. */
static void find_stack(const struct qzi_perf_buffer *buffer, uint64_t at, uint64_t bytes, int in_place,
                       struct qzi_sample *sample) {
  sample->copy.bytes = bytes;
  sample->copy.data = in_place && qzi_perf_piece(buffer, at) >= bytes ? qzi_perf_at(buffer, at) : sample->bytes;
  if (sample->copy.data == sample->bytes) qzi_perf_copy(buffer, at, sample->bytes, (size_t)bytes);
}

int qzi_perf_sample(const struct qzi_perf_buffer *buffer, uint64_t at, uint64_t bytes, uint32_t pid,
                    struct qzi_sample_choice *choice, int in_place, struct qzi_sample *sample) {
  uint64_t words[2 + AT_COUNT + 1], size, used,
    *registers = words + 2; /* skips process and thread, ABI of the registers; the registers follow, then the size of
                               the stack */
  if (bytes < sizeof words) return 0;
  qzi_perf_copy(buffer, at, words, sizeof words);
  if (words[1] != PERF_SAMPLE_REGS_ABI_64 || (uint32_t)words[0] != pid) return 0;
  if (choice && !qzi_sample_choice_takes(choice)) return 0;
  sample->tid = (uint32_t)(words[0] >> 32);
  size = words[2 + AT_COUNT];
  sample->at = (struct qzi_registers){
    .pc = registers[AT_PC], .sp = registers[AT_SP], .fp = registers[AT_FP], .link = LINK(registers), .fp_known = 1};
  sample->copy = (struct qzi_stack_copy){.address = registers[AT_SP]};
#if defined(__x86_64__)
  for (unsigned k = 0; k < 16; k++) sample->general[k] = registers[numbered[k]];
#endif
  sample->registers = 0;
  for (unsigned k = 0; k < AT_COUNT; k++) sample->registers = (sample->registers ^ registers[k]) * QZ_HASH_FACTOR;
  if (size && size <= sizeof sample->bytes && bytes >= sizeof words + size + 8) {
    qzi_perf_copy(buffer, at + sizeof words + size, &used, sizeof used);
    find_stack(buffer, at + sizeof words, used < size ? used : size, in_place, sample);
  }
  return registers[AT_PC] != 0;
}
