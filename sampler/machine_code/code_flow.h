/* Where control continues after an instruction: what loops and procedures are found by, on each architecture.
 *
 * Owns:    nothing; a function of bytes, for any thread and signal handler. Whatever machine it runs on, it can decode
 * both, but for x86-64 where Quartz was built without Zydis (x86_decode.h).
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
  QZI_GOES_ON,       /* to what follows, also after a call */
  QZI_GOES_IF,       /* to what follows, or to its target */
  QZI_GOES_TO,       /* to its target */
  QZI_GOES_ANYWHERE, /* by a jump through a register or memory */
  QZI_GOES_AWAY      /* it returns, or traps */
};

struct qzi_code_step {
  unsigned length;
  enum qzi_goes goes;
  int64_t target; /* from its beginning */
};

/* 0: it is none, there is not all of it, or nothing decodes it here. */
int qzi_code_step(enum qzi_machine machine, const unsigned char *bytes, size_t left, struct qzi_code_step *step);

#endif
