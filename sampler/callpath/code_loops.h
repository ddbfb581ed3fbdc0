/* The loops that an instruction of the program is in, and where their source is.
 *
 * Owns:    the loops of each procedure that was asked for, made from its code in the program's memory.
 * Writer and reader: one thread at a time; inline_frames.c's lock sees to that.
 * Must not: be asked by a snapshot for what takes long (qzi_code_loops_ready).
 *
 * A loop belongs to the innermost scope, of the procedure and those inlined into it, that all its jumps back are in,
 * and its line is the least one of these jumps, seen from that scope. So copies that the compiler makes of a loop
 * (unswitched, vectorized, the rest) have the same source, and a loop whose body is inlined code keeps its own
 * (Tallent, Mellor-Crummey, Fagan, PLDI 2009, section 3; debug information has the scopes that they had to guess).
 */
#ifndef QZI_CODE_LOOPS_H
#define QZI_CODE_LOOPS_H

#include <stdint.h>
#include "symbols/symbols.h"

#define QZI_CODE_LOOPS_MOST 12u /* around one instruction; of more, the outermost */

struct qzi_code_loops;

struct qzi_found_loop {
  uint64_t address; /* of its first instruction */
  uint32_t after;   /* how many of the procedures that are inlined at the instruction stand before it */
  int inlined;      /* 1: `scope` is the inlined procedure that it is in; 0: it is in the one that has the code */
  struct qz_symbol scope;
  const char *file; /* of its source; "": not known */
  uint32_t line;
};

/* NULL: no memory. */
struct qzi_code_loops *qzi_code_loops_open(void);
void qzi_code_loops_close(struct qzi_code_loops *loops);
/* 1: that takes some microseconds. */
int qzi_code_loops_ready(const struct qzi_code_loops *loops, qz_symbols *symbols, uint64_t pc, uint64_t entry);
/* Those around the instruction of the procedure that begins at `entry` in the process `pid`, the outermost first;
 * `inlined`: what qz_symbols_inlined says of it. Returns their number. */
uint32_t qzi_code_loops_at(struct qzi_code_loops *loops, qz_symbols *symbols, uint32_t pid, uint64_t pc, uint64_t entry,
                           const struct qz_symbol *inlined, uint32_t inlined_count, struct qzi_found_loop *found);

#endif
