/* Where control continues after an instruction, from which loops and procedures are found, on each architecture. All
 * analyses decide it here.
 *
 * Owns:    nothing; a function of bytes, for any thread and signal handler. It decodes both architectures on any
 * machine, except x86-64 if Quartz was built without Zydis.
 */
#ifndef QZI_CODE_FLOW_H
#define QZI_CODE_FLOW_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(QUARTZ_ZYDIS)
#define QZI_DECODES 1
#endif

enum qzi_machine { QZI_X86_64, QZI_AARCH64 };
#if defined(__aarch64__)
#define QZI_THIS_MACHINE QZI_AARCH64
#else
#define QZI_THIS_MACHINE QZI_X86_64
#endif

enum qzi_goes {
  QZI_GOES_ON,       /* to the next instruction */
  QZI_GOES_IF,       /* to the next instruction or to the target */
  QZI_GOES_TO,       /* to the target */
  QZI_GOES_CALL,     /* to a procedure, and then to the next instruction */
  QZI_GOES_KERNEL,   /* to the kernel by a system call, and then to the next instruction */
  QZI_GOES_ANYWHERE, /* to an unknown place, by a jump through a register or memory */
  QZI_GOES_BACK,     /* to the caller */
  QZI_GOES_AWAY      /* nowhere: it traps, or is not followed (transactions, far returns) */
};

struct qzi_code_step {
  unsigned length;
  enum qzi_goes goes;
  int64_t target; /* relative to the instruction's first byte */
};

/* Decodes one instruction. Returns 0 if it is invalid or incomplete, or if nothing is decoded for that architecture. */
int qzi_code_step(enum qzi_machine machine, const unsigned char *bytes, size_t left, struct qzi_code_step *step);

/* Whether a procedure's next instruction may be executed after it. */
static inline int qzi_goes_on(enum qzi_goes goes) {
  return goes == QZI_GOES_ON || goes == QZI_GOES_IF || goes == QZI_GOES_CALL || goes == QZI_GOES_KERNEL;
}

/* Whether it has a target of its own, other than a procedure that it calls. */
static inline int qzi_has_target(enum qzi_goes goes) { return goes == QZI_GOES_IF || goes == QZI_GOES_TO; }

/* The same decision for x86-64, from an instruction that Zydis has decoded, with operands or without. */
struct ZydisDecodedInstruction_;
enum qzi_goes qzi_x86_goes(const struct ZydisDecodedInstruction_ *found);

#endif
