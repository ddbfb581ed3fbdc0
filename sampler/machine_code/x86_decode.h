/* Instructions of x86-64 as compilers use them in short loops, taken apart. Encodings: Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2, chapter 2 and appendix A.
 *
 * Owns:    nothing; pure functions of bytes. x86-64 alone.
 */
#ifndef QZI_INSTRUCTION_H
#define QZI_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

enum { RAX = 0, RDX = 2, RSP = 4, RBP = 5, NONE = 16, RIP = 17, XMM = 32, REGISTERS = 48 };
#define BIT(reg) (UINT64_C(1) << (reg))
/* What procedures may change (System V ABI): rax, rcx, rdx, rsi, rdi, r8 to r11, and all of SSE. */
#define CHANGED (BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | UINT64_C(0xffff) << XMM)

struct memory { unsigned base, index; int64_t disp; };
struct instruction {
  unsigned length, op;   /* op: 0x100 and more for two-byte ones */
  unsigned reg, rm;      /* registers; rm: NONE where it is memory */
  unsigned kind;         /* ModRM.reg without extension: selects the operation of a group */
  struct memory at;
  int64_t number;        /* immediate, or distance of a jump */
};

/* 0: there is not all of it. What it does is not looked at. */
int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its);
int qzi_is_jump(const struct instruction *its);
/* Registers that an instruction writes; *memory: whether its other operand is memory that it writes. */
uint64_t qzi_writes(const struct instruction *its, int *memory);

#endif
