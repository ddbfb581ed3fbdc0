/* The loops that an instruction of the program is in, and where their source is.
 *
 * Owns:    the loops of each procedure that was looked up, found in its code in the program's memory.
 * Writer and reader: one thread at a time, which the lock of inline_frames.c ensures.
 * Must not: be called during a snapshot if it would take long (qzi_code_loops_ready).
 *
 * Scopes are the procedure and those inlined into it. A loop belongs to the innermost scope that contains all its
 * backward jumps, and its line is the smallest line of these jumps in that scope. Therefore copies of a loop that the
 * compiler makes (unswitched, vectorized, remainder) have the same source, and a loop whose body is inlined code keeps
 * its own line (Tallent, Mellor-Crummey, Fagan, PLDI 2009, section 3; debug information contains the scopes that they
 * had to guess).
 */
#ifndef QZI_CODE_LOOPS_H
#define QZI_CODE_LOOPS_H

#include <stdint.h>
#include "symbols/symbols.h"

#define QZI_CODE_LOOPS_MOST 12u /* maximum number of loops around one instruction; inner ones are left out */

struct qzi_code_loops;

struct qzi_found_loop {
  uint64_t address; /* of the loop's first instruction */
  uint32_t after;   /* number of procedures inlined at the instruction that come before the loop on the path */
  int inlined;      /* 1: the loop is in the inlined procedure `scope`; 0: in the procedure that contains the code */
  struct qz_symbol scope;
  const char *file; /* source file; "": unknown */
  uint32_t line;
};

/* Returns NULL if there is no memory. */
struct qzi_code_loops *qzi_code_loops_open(void);
void qzi_code_loops_close(struct qzi_code_loops *loops);
/* 1: qzi_code_loops_at takes only some microseconds for this instruction. */
int qzi_code_loops_ready(const struct qzi_code_loops *loops, qz_symbols *symbols, uint64_t pc, uint64_t entry);
/* Finds the loops around the instruction `pc` of the procedure that begins at `entry` in the process `pid`, outermost
 * first. `inlined`: the result of qz_symbols_inlined for the instruction. Returns the number of loops, at most
 * QZI_CODE_LOOPS_MOST. */
uint32_t qzi_code_loops_at(struct qzi_code_loops *loops, qz_symbols *symbols, uint32_t pid, uint64_t pc, uint64_t entry,
                           const struct qz_symbol *inlined, uint32_t inlined_count, struct qzi_found_loop *found);

#endif
