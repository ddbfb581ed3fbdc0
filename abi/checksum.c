/* CRC-32C by the CPU's instruction if it has one (some GB/s), else by a table. See checksum.h. */
#include "checksum.h"

#include <string.h>

/* The table for four bits at a time; polynomial 0x82f63b78 (bits reversed). */
static const uint32_t nibbles[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                     0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                     0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

uint32_t qz_checksum_portable(uint32_t sum, const void *bytes, size_t count) {
  uint32_t crc = ~sum;
  for (const unsigned char *at = bytes; count; at++, count--) {
    crc ^= *at;
    crc = crc >> 4 ^ nibbles[crc & 15];
    crc = crc >> 4 ^ nibbles[crc & 15];
  }
  return ~crc;
}

#if defined __x86_64__
#define INSTRUCTION      __attribute__((target("sse4.2")))
#define EIGHT(crc, word) ((uint32_t)__builtin_ia32_crc32di(crc, word))
#define ONE(crc, byte)   __builtin_ia32_crc32qi(crc, byte)
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined __aarch64__ && defined __GNUC__ && !defined __clang__
#include <sys/auxv.h>
#define INSTRUCTION      __attribute__((target("+crc")))
#define EIGHT(crc, word) __builtin_aarch64_crc32cx(crc, word)
#define ONE(crc, byte)   __builtin_aarch64_crc32cb(crc, byte)
static int has_instruction(void) { return (getauxval(AT_HWCAP) & 128) != 0; /* HWCAP_CRC32 */ }
#endif

#ifdef INSTRUCTION
INSTRUCTION static uint32_t by_instruction(uint32_t sum, const unsigned char *at, size_t count) {
  uint32_t crc = ~sum;
  for (; count >= 8; at += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    crc = EIGHT(crc, word);
  }
  for (; count; at++, count--) crc = ONE(crc, *at);
  return ~crc;
}
#endif

uint32_t qz_checksum(uint32_t sum, const void *bytes, size_t count) {
#ifdef INSTRUCTION
  if (has_instruction()) return by_instruction(sum, bytes, count);
#endif
  return qz_checksum_portable(sum, bytes, count);
}
