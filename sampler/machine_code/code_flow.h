/* Where control continues after an instruction, from which loops and procedures are found, on each architecture.
 *
 * Owns:    nothing; a function of bytes, for any thread and signal handler. It decodes both architectures on any
 * machine, except x86-64 if Quartz was built without Zydis (x86_decode.h).
 */
#ifndef QZI_CODE_FLOW_H
#define QZI_CODE_FLOW_H

#include <stddef.h>
#include <stdint.h>

enum qzi_machine { QZI_X86_64, QZI_AARCH64 };
#if defined(__aarch64__)
#define QZI_THIS_MACHINE QZI_AARCH64
#else
#define QZI_THIS_MACHINE QZI_X86_64
#endif

enum qzi_goes {
  QZI_GOES_ON,       /* to the next instruction; also calls */
  QZI_GOES_IF,       /* to the next instruction or to the target */
  QZI_GOES_TO,       /* to the target */
  QZI_GOES_ANYWHERE, /* to an unknown place, by a jump through a register or memory */
  QZI_GOES_AWAY      /* nowhere: it returns or traps */
};

struct qzi_code_step {
  unsigned length;
  enum qzi_goes goes;
  int64_t target; /* relative to the instruction's first byte */
};

/* Decodes one instruction. Returns 0 if it is invalid or incomplete, or if nothing is decoded for that architecture. */
int qzi_code_step(enum qzi_machine machine, const unsigned char *bytes, size_t left, struct qzi_code_step *step);

#endif
