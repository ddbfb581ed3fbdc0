/* See prologue.h. */
#include "prologue.h"

#include <string.h>

#if defined(__x86_64__)
#define FRAME_MOST (1u << 20) /* more bytes are no frame, but data that looks like one */

static int is(const unsigned char *code, size_t count, const char *bytes, size_t length) {
  return count >= length && !memcmp(code, bytes, length);
}
#define IS(code, count, bytes) is(code, count, bytes, sizeof(bytes) - 1)

/* sub $N,%rsp: N, and the instruction's length; 0: it is another one. */
static size_t subtracts(const unsigned char *code, size_t count, uint32_t *bytes) {
  if (IS(code, count, "\x48\x83\xec") && count >= 4 && code[3] < 0x80) {
    *bytes = code[3];
    return 4;
  }
  if (!IS(code, count, "\x48\x81\xec") || count < 7) return 0;
  memcpy(bytes, code + 3, sizeof *bytes);
  return *bytes < FRAME_MOST ? 7 : 0;
}

/* mov %rsp,%rbp, in both encodings. */
static int sets_pointer(const unsigned char *code, size_t count) {
  return IS(code, count, "\x48\x89\xe5") || IS(code, count, "\x48\x8b\xec");
}

/* mov %rbp,M(%rsp): the instruction's length; 0: it is another one. */
static size_t saves_pointer(const unsigned char *code, size_t count, uint32_t offset) {
  uint32_t its;
  if (IS(code, count, "\x48\x89\x6c\x24") && count >= 5 && code[4] == offset) return 5;
  if (!IS(code, count, "\x48\x89\xac\x24") || count < 8) return 0;
  memcpy(&its, code + 4, sizeof its);
  return its == offset ? 8 : 0;
}

static uint32_t prologue_at(const unsigned char *code, size_t count) {
  uint32_t bytes;
  if (code[0] == 0x55) {
    if (sets_pointer(code + 1, count - 1)) return QZI_PROLOGUE_POINTER;
    return subtracts(code + 1, count - 1, &bytes) ? bytes + 16 : QZI_PROLOGUE_NONE;
  }
  size_t first = code[0] == 0x48 ? subtracts(code, count, &bytes) : 0;
  size_t second = first && bytes >= 8 ? saves_pointer(code + first, count - first, bytes - 8) : 0;
  if (!second) return QZI_PROLOGUE_NONE;
  return sets_pointer(code + first + second, count - first - second) ? QZI_PROLOGUE_POINTER : bytes + 8;
}

uint32_t qzi_prologue_before(const unsigned char *code, size_t end) {
  for (size_t k = end; k-- > 0;) {
    uint32_t frame = code[k] == 0x55 || code[k] == 0x48 ? prologue_at(code + k, end - k) : QZI_PROLOGUE_NONE;
    if (frame) return frame;
  }
  return QZI_PROLOGUE_NONE;
}

int qzi_prologue_without_frame(const unsigned char *code, size_t count, uint32_t *above) {
  *above = 0;
  if (count && (code[0] == 0x55 || code[0] == 0xc3 || code[0] == 0xc2)) return 1; /* push %rbp, ret */
  *above = 8;
  return sets_pointer(code, count);
}

int qzi_prologue_ends_with_dispatch(const unsigned char *code, size_t count) {
  if (count < 3) return 0;
  const unsigned char *end = code + count;
  return (end[-3] == 0xff && end[-2] == 0x24 && (end[-1] & 0xc0) > 0x40) || /* jmp *(base,index,4 or 8) */
         (end[-2] == 0xff && (end[-1] & 0xf8) == 0xe0);                     /* jmp *register */
}

#else

uint32_t qzi_prologue_before(const unsigned char *code, size_t end) { return QZI_PROLOGUE_NONE; }
int qzi_prologue_without_frame(const unsigned char *code, size_t count, uint32_t *above) { return 0; }
int qzi_prologue_ends_with_dispatch(const unsigned char *code, size_t count) { return 0; }

#endif
