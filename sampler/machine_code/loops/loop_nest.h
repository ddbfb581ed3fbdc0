/* The loops of one procedure's machine code, and their nesting.
 *
 * Owns:    only the table that it returns; a function of bytes. If nothing is decoded (code_flow.h), there are no
 * loops. One thread at a time for each table; not for signal handlers.
 *
 * Basic blocks come from one linear decoding. A jump through a register or memory is assumed to lead to any later block
 * to which no other jump or instruction leads; this loses no loop around a switch (but may add one). Nesting comes from
 * one depth-first walk (Wei, Mao, Zou, Chen: "A New Algorithm for Identifying Loops in Decompilation", SAS 2007), which
 * also finds loops with several entries; such a loop is identified by the block through which the walk entered it.
 */
#ifndef QZI_LOOP_NEST_H
#define QZI_LOOP_NEST_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/machine_code/code_flow.h"

#define QZI_LOOP_SOURCES 8u
#define QZI_LOOP_EXITS   8u
#define QZI_CODE_PIECES  4u /* maximum number of pieces of one procedure */

struct qzi_code_loop {
  uint64_t header;                    /* address of its first block */
  uint32_t outer;                     /* index + 1 of the innermost loop around it; 0: none */
  uint32_t entries;                   /* 1, or 2 for a loop with several entries */
  uint32_t count;                     /* number of backward jumps to the header, of which these are kept: */
  uint64_t sources[QZI_LOOP_SOURCES]; /* their addresses: jumps first, then places where control continues into the
                                         header without a jump */
  uint32_t conditional;               /* number of backward jumps that have a condition */
  uint64_t test;                      /* the jump at the end of its first block, if that may leave the loop; 0: none */
  uint32_t exit_count;
  uint64_t exits[QZI_LOOP_EXITS]; /* the first jumps that may leave the loop, by address */
};

/* A part of a procedure's code, from address `start` on. */
struct qzi_code_piece {
  const unsigned char *bytes;
  size_t length;
  uint64_t start;
};

struct qzi_loop_nest {
  uint32_t pieces;
  struct {
    uint64_t start, end;
  } piece[QZI_CODE_PIECES]; /* the decoded pieces, ascending by address */
  struct qzi_code_loop *loops;
  uint32_t loop_count;
  struct qzi_nest_block *blocks; /* ascending by address */
  uint32_t block_count;
};

/* Finds the loops of the procedure that begins at pieces[0]; the other pieces contain code that the compiler has moved
 * away from it. sized: pieces[0] is complete; otherwise there is one piece, and the procedure ends after an instruction
 * that does not continue to the next one and beyond which no jump before it leads. Returns 0, or -1 if there is no
 * memory. */
int qzi_loop_nest_of(struct qzi_loop_nest *nest, enum qzi_machine machine, const struct qzi_code_piece *pieces,
                     uint32_t count, int sized);
/* Finds at most `most` targets of jumps out of the piece, without duplicates. Returns their number. */
uint32_t qzi_loop_nest_jumps_out(enum qzi_machine machine, const struct qzi_code_piece *piece, uint64_t *targets,
                                 uint32_t most);
/* 1: the instruction is in the decoded code. */
int qzi_loop_nest_has(const struct qzi_loop_nest *nest, uint64_t address);
void qzi_loop_nest_free(struct qzi_loop_nest *nest);
/* Index + 1 of the innermost loop that contains the instruction; 0: none. */
uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address);

#endif
