/* See call_target.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CALL and JMP.
 */
#include "call_target.h"

#include <string.h>
#include "sampler/linux/process_memory.h"

#if defined(__x86_64__)

/* Reads the 8 bytes of memory that an instruction ending at `end` addresses relative to its end. */
static uint64_t slot(uint32_t pid, const unsigned char *distance, uint64_t end) {
  int32_t offset;
  uint64_t found;
  memcpy(&offset, distance, sizeof offset);
  return qzi_program_read(pid, end + (uint64_t)(int64_t)offset, &found, sizeof found) ? 0 : found;
}

/* A linker's stub jumps to the address stored in a slot of memory. */
uint64_t qzi_jump_target(uint32_t pid, uint64_t entry) {
  static const unsigned char marks[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
  unsigned char bytes[16];
  if (qzi_program_read(pid, entry, bytes, sizeof bytes)) return entry;
  unsigned at = memcmp(bytes, marks, sizeof marks) ? 0 : sizeof marks;
  if (bytes[at] == 0xf2) at++; /* bnd */
  if (bytes[at] != 0xff || bytes[at + 1] != 0x25) return entry;
  return slot(pid, bytes + at + 2, entry + at + 6);
}

uint64_t qzi_call_target(uint32_t pid, uint64_t site) {
  unsigned char bytes[6];
  int32_t offset;
  if (qzi_program_read(pid, site - sizeof bytes, bytes, sizeof bytes)) return 0;
  if (bytes[0] == 0xff && bytes[1] == 0x15) return slot(pid, bytes + 2, site);
  if (bytes[1] != 0xe8) return 0;
  memcpy(&offset, bytes + 2, sizeof offset);
  return qzi_jump_target(pid, site + (uint64_t)(int64_t)offset);
}

int qzi_ends_with_call(const unsigned char *code, size_t count) {
  if (count >= 5 && code[count - 5] == 0xe8) return 1;
  for (size_t length = 2; length <= 7 && length <= count; length++) { /* a call through a register or memory */
    const unsigned char *at = code + count - length;
    if (length > 2 && *at >= 0x41 && *at <= 0x4f && at[1] == 0xff && (at[2] & 0x38) == 0x10) return 1;
    if (at[0] == 0xff && (at[1] & 0x38) == 0x10) return 1;
  }
  return 0;
}

#else
/* Arm A64: BLR; BL (Arm Architecture Reference Manual, C6.2). */
int qzi_ends_with_call(const unsigned char *code, size_t count) {
  uint32_t word = 0;
  if (count >= sizeof word) memcpy(&word, code + count - sizeof word, sizeof word);
  return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfc000000) == 0x94000000;
}
uint64_t qzi_call_target(uint32_t pid, uint64_t site) { return 0; }
uint64_t qzi_jump_target(uint32_t pid, uint64_t entry) { return entry; }
#endif
