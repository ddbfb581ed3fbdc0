/* x86-64 instructions, decoded by the Zydis library, in the detail that the analyses of loops need.
 *
 * Owns:    nothing; pure functions of bytes. If the sampler was built without Zydis, and on other machines, nothing is
 * decoded.
 */
#ifndef QZI_X86_DECODE_H
#define QZI_X86_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include "code_flow.h"

/* General registers by number, SSE registers from XMM on. NONE: no register; RIP: in addresses; FLAGS: status flags;
 * OTHER: all further registers (upper ones of AVX-512, x87's, masks, ...). */
enum { RAX = 0, RDX = 2, RSP = 4, RBP = 5, NONE = 16, RIP = 17, FLAGS = 18, OTHER = 19, XMM = 32, REGISTERS = 48 };
#define BIT(reg) (UINT64_C(1) << (reg))
#define GENERAL  UINT64_C(0xffff)
/* Registers that a procedure may change (System V ABI): rax, rcx, rdx, rsi, rdi, r8 to r11, and all SSE registers. */
#define CHANGED \
  (BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | UINT64_C(0xffff) << XMM)

struct memory {
  unsigned base, index;
  int64_t disp;
  int thread; /* 1: relative to the thread-local block (fs, gs) */
};
/* The bytes that an instruction addresses: at base + index * scale + disp. */
struct named_bytes {
  unsigned scale, count; /* count 0: it addresses none, or only computes the address */
  int read, written;
};
struct instruction {
  unsigned length,
    op; /* opcode; from 0x100 on: two-byte opcodes; from 0x1000 on: other encodings (three bytes, VEX, EVEX) */
  unsigned reg, rm; /* registers; rm: NONE if the operand is memory */
  unsigned kind;    /* ModRM.reg without extension: selects the operation of a group */
  struct memory at;
  struct named_bytes bytes;
  int64_t number; /* immediate, or displacement of a jump */
  enum qzi_goes goes;
  uint64_t reads, writes; /* registers (BIT); a write to a part of a register counts as a write to all of it */
  int loads, stores;      /* accesses of memory, including implicit ones */
  int tries;              /* 1: it exchanges, or compares and exchanges, memory with a register: how locks are tried */
  int locked;             /* 1: it changes memory atomically */
  int fences; /* 1: it orders memory accesses and changes none: a fence, or a locked operation that leaves memory
                 unchanged */
};

/* Decodes one instruction. Returns 0 if it is invalid or incomplete. */
int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its);
/* Whether it is a jump to an address that the instruction itself contains, always or by flags. */
int qzi_is_jump(const struct instruction *its);
/* Registers that an instruction writes, except flags and except RSP of calls and returns; *memory: whether it writes
 * memory, except by an exchange. */
uint64_t qzi_writes(const struct instruction *its, int *memory);

#endif
