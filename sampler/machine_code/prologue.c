/* See prologue.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, PUSH, MOV, SUB and
 * CALL. */
#include "prologue.h"

#include <string.h>

#if defined(__x86_64__)

int32_t qzi_frame_size(const unsigned char *code, size_t count) {
  static const unsigned char marks[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
  size_t at = count >= sizeof marks && !memcmp(code, marks, sizeof marks) ? sizeof marks : 0;
  int32_t bytes = 0;
  /* push %rbp; mov %rsp,%rbp */
  if (at + 4 > count || code[at] != 0x55 || code[at + 1] != 0x48) return -1;
  if (!(code[at + 2] == 0x89 && code[at + 3] == 0xe5) && !(code[at + 2] == 0x8b && code[at + 3] == 0xec)) return -1;
  at += 4;
  for (; at + 7 <= count; bytes += 8) { /* further pushes */
    if (code[at] >= 0x50 && code[at] <= 0x57)
      at++;
    else if (code[at] == 0x41 && code[at + 1] >= 0x50 && code[at + 1] <= 0x57)
      at += 2;
    else
      break;
  }
  if (at + 7 > count) return -1;
  int adds = code[at + 2] == 0xc4; /* of a negative number, else sub */
  if (code[at] != 0x48 || (!adds && code[at + 2] != 0xec)) return bytes;
  int32_t more = 0;
  if (code[at + 1] == 0x83)
    more = (int8_t)code[at + 3];
  else if (code[at + 1] == 0x81)
    memcpy(&more, code + at + 3, sizeof more);
  else
    return bytes;
  if (adds) more = more < -(1 << 20) ? -1 : -more;
  return more < 0 || more > 1 << 20 ? -1 : bytes + more;
}

int qzi_ends_with_call(const unsigned char *code, size_t count) {
  if (count >= 5 && code[count - 5] == 0xe8) return 1;
  for (size_t length = 2; length <= 7 && length <= count; length++) { /* through a register or memory */
    const unsigned char *at = code + count - length;
    if (length > 2 && *at >= 0x41 && *at <= 0x4f && at[1] == 0xff && (at[2] & 0x38) == 0x10) return 1;
    if (at[0] == 0xff && (at[1] & 0x38) == 0x10) return 1;
  }
  return 0;
}

#else
int32_t qzi_frame_size(const unsigned char *code, size_t count) { return -1; }
int qzi_ends_with_call(const unsigned char *code, size_t count) { return 0; }
#endif
