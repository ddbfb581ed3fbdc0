/* Where a procedure's caller is found from each of its instructions, read from its machine code: for code that has no
 * unwind information (assembly, other compilers, -fno-asynchronous-unwind-tables).
 *
 * Owns:    an analysis that is under way, and the table it ends with; a function of bytes. One thread at a time for
 * each; not for signal handlers. x86-64; elsewhere, and where nothing is decoded (x86_decode.h), there are no rules.
 *
 * The analysis follows the code from the procedure's entry, where the return address is on top of the stack, through
 * jumps and branches, and keeps which registers lie how far below the caller's stack pointer (CFA). What it does not
 * reach so, since it is jumped to through a table, has the state of a jump through a register before it; else that of
 * the first call, the canonical frame of Tallent, Mellor-Crummey and Fagan (PLDI 2009, section 2.2). They scan in order
 * of addresses; here states go along jumps, so that code behind a return needs no guess where a jump leads to it.
 */
#ifndef QZI_FRAME_RULES_H
#define QZI_FRAME_RULES_H

#include <stddef.h>
#include <stdint.h>

#define QZI_FRAME_CODE_MOST (1u << 20) /* bytes of one procedure */

enum qzi_frame_base {
  QZI_BASE_NONE = 0, /* the place was not reached, or its frame cannot be determined */
  QZI_BASE_SP,       /* CFA = stack pointer + cfa_offset */
  QZI_BASE_FP,       /* CFA = frame pointer + cfa_offset */
  QZI_BASE_AT_SP,    /* CFA = what lies at stack pointer + slot_offset, + cfa_offset: the stack was aligned */
  QZI_BASE_AT_FP
};
enum qzi_frame_fp {
  QZI_FP_LOST = 0, /* the caller's frame pointer is not known */
  QZI_FP_SAME,     /* it is in the register */
  QZI_FP_AT_CFA,   /* it lies at CFA + fp_offset */
  QZI_FP_AT_BASE   /* at the base register + fp_offset */
};
struct qzi_frame_rule {
  uint32_t offset; /* from the procedure's start; it holds from there to the next rule */
  uint8_t base, fp;
  uint8_t guessed; /* 1: no jump leads there that was understood */
  uint8_t unused;
  int32_t cfa_offset, slot_offset, fp_offset;
  int32_t from_fp; /* CFA - frame pointer, whatever the base; 0: the frame pointer does not point into the frame */
};

struct qzi_frame_analysis;

/* Of the procedure that begins at `start`, with `length` bytes of code, which are copied; sized: that is all of it.
 * parent: NULL, or the analysis, which has ended, of the procedure that jumps into this part of it. NULL: no memory. */
struct qzi_frame_analysis *qzi_frame_analysis_open(const unsigned char *code, size_t length, uint64_t start, int sized,
                                                   const struct qzi_frame_analysis *parent);
void qzi_frame_analysis_close(struct qzi_frame_analysis *analysis);
/* Goes on for about so many instructions. 1: it has come to its end; 0: not yet; -1: no memory. */
int qzi_frame_analysis_step(struct qzi_frame_analysis *analysis, uint32_t instructions);

/* What follows is of one that has ended. */
/* NULL: not in it. */
const struct qzi_frame_rule *qzi_frame_rule_at(const struct qzi_frame_analysis *analysis, uint64_t address);
/* 1: it may go on into another procedure by a jump, which then returns in its place. */
int qzi_frame_tail_calls(const struct qzi_frame_analysis *analysis);
/* Its returns for which the return address was not where it ought to be: code that was not understood. */
uint32_t qzi_frame_odd_returns(const struct qzi_frame_analysis *analysis);

#endif
