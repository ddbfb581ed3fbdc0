/* Instructions of x86-64, decoded by the Zydis library, as far as the analyses of loops look at them.
 *
 * Owns:    nothing; pure functions of bytes. Where the sampler is built without Zydis, and on other machines, nothing
 * is decoded.
 */
#ifndef QZI_X86_DECODE_H
#define QZI_X86_DECODE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(QUARTZ_ZYDIS)
#define QZI_DECODES 1
#endif

/* General registers by their numbers, the SSE registers from XMM on. NONE: no register; RIP: of an address; FLAGS: the
 * status flags; OTHER: all further registers (AVX-512's upper ones, x87's, masks, ...). */
enum { RAX = 0, RDX = 2, RSP = 4, RBP = 5, NONE = 16, RIP = 17, FLAGS = 18, OTHER = 19, XMM = 32, REGISTERS = 48 };
#define BIT(reg) (UINT64_C(1) << (reg))
#define GENERAL  UINT64_C(0xffff)
/* What procedures may change (System V ABI): rax, rcx, rdx, rsi, rdi, r8 to r11, and all of SSE. */
#define CHANGED \
  (BIT(0) | BIT(1) | BIT(2) | BIT(6) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | UINT64_C(0xffff) << XMM)

enum qzi_flow {
  FLOW_ON,       /* to what follows */
  FLOW_IF,       /* to what follows, or by `number` from its end */
  FLOW_JUMP,     /* by `number` from its end */
  FLOW_CALL,     /* a procedure, then to what follows */
  FLOW_ELSEWHERE /* returns, jumps through registers or memory, into the kernel, traps */
};
struct memory {
  unsigned base, index;
  int64_t disp;
  int thread; /* 1: relative to the thread's own block (fs, gs) */
};
/* The bytes that an instruction names in memory: at base + index * scale + disp. */
struct named_bytes {
  unsigned scale, count; /* count 0: it names none, or none that it touches (an address alone) */
  int read, written;
};
struct instruction {
  unsigned length,
    op; /* op: 0x100 and more for two-byte ones; 0x1000 and more: another encoding (three bytes, VEX, EVEX) */
  unsigned reg, rm; /* registers; rm: NONE where it is memory */
  unsigned kind;    /* ModRM.reg without extension: selects the operation of a group */
  struct memory at;
  struct named_bytes bytes;
  int64_t number; /* immediate, or distance of a jump */
  enum qzi_flow flow;
  uint64_t reads, writes; /* registers (BIT); what writes a part of one is taken to write all of it */
  int loads, stores;      /* memory, that of implicit operands too */
  int tries;  /* it exchanges, or compares and exchanges, what is in memory with a register: how locks are tried */
  int locked; /* it changes memory in one step that no other thread can divide */
  int
    fences; /* it orders memory accesses and changes none: a fence, or a locked operation that leaves memory as it is */
};

/* 0: it is none, or there is not all of it. */
int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its);
/* A jump to a place that the instruction itself names. */
int qzi_is_jump(const struct instruction *its);
/* Registers that an instruction writes, the flags and RSP of calls and returns aside; *memory: whether it writes
 * memory. What an exchange writes there does not count. */
uint64_t qzi_writes(const struct instruction *its, int *memory);

#endif
