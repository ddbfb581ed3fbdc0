/* A loop as an assembler writes it, and whether its beginning is found. */
#include <stdio.h>
#include <string.h>

#define LOOP_AT 0x401000

/* The code `from` of `count` bytes at LOOP_AT, followed by nops in `bytes`; code that is cut short ends there. */
static struct qzi_code loop_code(unsigned char *bytes, size_t room, const unsigned char *from, size_t count) {
  memset(bytes, 0x90, room);
  memcpy(bytes, from, count);
  return (struct qzi_code){.address = LOOP_AT, .bytes = bytes, .count = count < 4 ? count : room};
}

/* 0, or 1 and a line: `found` is not `start` bytes into the code, or is anything where there is no such loop. */
static int loop_differs(const char *what, uint64_t found, int is_one, unsigned start) {
#if defined(__x86_64__)
  uint64_t right = is_one ? LOOP_AT + start : 0;
#else
  uint64_t right = 0;
#endif
  if (found != right) printf("%s: found %#lx, not %#lx\n", what, (unsigned long)found, (unsigned long)right);
  return found != right;
}
