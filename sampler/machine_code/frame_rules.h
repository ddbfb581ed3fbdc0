/* Rules for finding a procedure's caller at each of its instructions, derived from its machine code, for code without
 * unwind information (assembly, other compilers, -fno-asynchronous-unwind-tables).
 *
 * Owns:    an analysis in progress, and the resulting table; a function of bytes. One thread at a time for each
 * analysis; not for signal handlers. x86-64; elsewhere, and where nothing is decoded (x86_decode.h), there are no
 * rules.
 *
 * The analysis follows the code from the procedure's entry, where the return address is on top of the stack, through
 * jumps and branches, and tracks for each register how far its value is below the caller's stack pointer (CFA). Code
 * that is not reached, because it is the target of a jump through a table, gets the state at a jump through a register
 * or memory, with a frame if any has one (else it may be a tail call); without such a jump the state at the first call,
 * the canonical frame of Tallent, Mellor-Crummey and Fagan (PLDI 2009, section 2.2). They scan in order of addresses;
 * here states follow jumps, so that code after a return needs no guess if a jump leads to it.
 */
#ifndef QZI_FRAME_RULES_H
#define QZI_FRAME_RULES_H

#include <stddef.h>
#include <stdint.h>
#include "frame_rule.h"

#define QZI_FRAME_CODE_MOST (1u << 20) /* maximum size of a procedure in bytes */

struct qzi_frame_analysis;

/* Begins the analysis of the procedure at `start` with `length` bytes of code, which are copied; sized: these are the
 * whole procedure. parent: NULL; for a separate part of a procedure, the ended analysis of that procedure. Returns NULL
 * if there is no memory. */
struct qzi_frame_analysis *qzi_frame_analysis_open(const unsigned char *code, size_t length, uint64_t start, int sized,
                                                   const struct qzi_frame_analysis *parent);
void qzi_frame_analysis_close(struct qzi_frame_analysis *analysis);
/* Analyses about that many further instructions. Returns 1 when the analysis has ended; 0: not yet; -1: no memory. */
int qzi_frame_analysis_step(struct qzi_frame_analysis *analysis, uint32_t instructions);

/* The following functions require an analysis that has ended. */
/* The rule at the address; NULL: it is not in the procedure. */
const struct qzi_frame_rule *qzi_frame_rule_at(const struct qzi_frame_analysis *analysis, uint64_t address);
/* Whether the procedure may end with a jump to another one (tail call), which then returns in its place. */
int qzi_frame_tail_calls(const struct qzi_frame_analysis *analysis);
/* Number of return instructions at which the return address was not where it should be, which means that the code was
 * misunderstood. */
uint32_t qzi_frame_odd_returns(const struct qzi_frame_analysis *analysis);

#endif
