/* See hook_code.h. The code: threadlib/include/quartz/hooks.h, quartz_entry_2 and quartz_exit_2. */
#include "hook_code.h"

#include "x86_decode.h"

#ifdef QZI_DECODES

enum { RCX = 1, R10 = 10, R11 = 11 };

static int next(const unsigned char *bytes, size_t left, unsigned *at, struct instruction *its) {
  if (!qzi_decode(bytes + *at, left - *at, its)) return 0;
  *at += its->length;
  return 1;
}

/* `ret`, `rep ret`, `ret N`, or the jump by which -mfunction-return=thunk replaces them. */
static int returns(const unsigned char *bytes, size_t left) {
  return left && (bytes[0] == 0xc3 || bytes[0] == 0xc2 || bytes[0] == 0xe9 ||
                  (left > 1 && bytes[0] == 0xf3 && bytes[1] == 0xc3));
}

enum qzi_hook qzi_hook_code(const unsigned char *bytes, size_t left, unsigned *length) {
  struct instruction its;
  unsigned at = 0, behind;
  /* loads %r11 with the address of the running thread's stack, from a thread-local word */
  if (!left || (bytes[0] != 0x64 && bytes[0] != 0x4c) || !next(bytes, left, &at, &its) || its.op != 0x8b ||
      its.reg != R11)
    return QZI_NO_HOOK;
  if (!its.at.thread && (its.at.base != RIP || !next(bytes, left, &at, &its) || its.op != 0x8b || its.reg != R11 ||
                         its.at.base != R11 || !its.at.thread))
    return QZI_NO_HOOK;
  if (!next(bytes, left, &at, &its) || its.op != 0x85 || its.reg != R11 || its.rm != R11) return QZI_NO_HOOK;
  if (!next(bytes, left, &at, &its) || its.number <= 0) return QZI_NO_HOOK;
  /* jumps to the rest of an exit, which is elsewhere, if somebody observes the program; else the procedure returns */
  if ((its.op == 0x75 || its.op == 0x185) && returns(bytes + at, left - at)) {
    *length = at;
    return QZI_HOOK_EXIT;
  }
  /* jumps over the rest if nobody observes the program (and exits in programs that were compiled with earlier versions
   * of quartz/hooks.h) */
  if (its.op != 0x74 && its.op != 0x184) return QZI_NO_HOOK;
  behind = at + (unsigned)its.number;
  if (!next(bytes, left, &at, &its) || its.rm != NONE || behind > left) return QZI_NO_HOOK;
  *length = behind;
  if (its.op == 0x8b && its.reg == R10 && its.at.base == RSP && its.at.disp == 0)
    return QZI_HOOK_ENTRY; /* it loads the return address */
  if (its.op == 0x8b && its.reg == R10 && its.at.base == R11 && its.at.disp == 0)
    return QZI_HOOK_EXIT; /* it loads the word on top of the stack */
  if (its.op == 0x89 && its.reg == RCX && its.at.base == RSP && its.at.disp == -8)
    return QZI_HOOK_EXIT; /* clang's version saves %rcx first */
  return QZI_NO_HOOK;
}

#else
enum qzi_hook qzi_hook_code(const unsigned char *bytes, size_t left, unsigned *length) { return QZI_NO_HOOK; }
#endif
