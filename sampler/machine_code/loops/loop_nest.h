/* The loops of one procedure's machine code, and how they lie in each other.
 *
 * Owns:    nothing but the table it gives back; a function of bytes. Where nothing is decoded (code_flow.h), there are
 * no loops. One thread at a time for each table; not for signal handlers.
 *
 * Basic blocks from one linear decoding; a jump through a register or memory may lead to any block behind it that no
 * other jump or instruction leads to, which loses no loop around a switch (and may add one). Nesting by one depth-first
 * walk (Wei, Mao, Zou, Chen: "A New Algorithm for Identifying Loops in Decompilation", SAS 2007), which also finds
 * loops with several entries; such a one is known by the block that the walk entered it by.
 */
#ifndef QZI_LOOP_NEST_H
#define QZI_LOOP_NEST_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/machine_code/code_flow.h"

#define QZI_LOOP_SOURCES 8u
#define QZI_CODE_PIECES  4u /* of one procedure */

struct qzi_code_loop {
  uint64_t header;                    /* address of its first block */
  uint32_t outer;                     /* index + 1 of the innermost loop around it; 0: none */
  uint32_t entries;                   /* 1, or 2 for a loop with several entries */
  uint32_t count;                     /* jumps back to the header, of which those are kept: */
  uint64_t sources[QZI_LOOP_SOURCES]; /* their addresses; first jumps, then where code goes on into the header */
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
  } piece[QZI_CODE_PIECES]; /* that were decoded, by address */
  struct qzi_code_loop *loops;
  uint32_t loop_count;
  struct qzi_nest_block *blocks; /* by address */
  uint32_t block_count;
};

/* Of the procedure that begins at pieces[0], of which so much is given; in the others lies what the compiler has moved
 * away from it. sized: that is all of it; else it is of one piece, and ends behind an instruction that goes nowhere
 * near and that no jump before leads beyond. 0, or -1: no memory. */
int qzi_loop_nest_of(struct qzi_loop_nest *nest, enum qzi_machine machine, const struct qzi_code_piece *pieces,
                     uint32_t count, int sized);
/* Where the piece has jumps to that are not in it: `most` such places, each once. Returns their number. */
uint32_t qzi_loop_nest_jumps_out(enum qzi_machine machine, const struct qzi_code_piece *piece, uint64_t *targets,
                                 uint32_t most);
/* 1: it has the instruction. */
int qzi_loop_nest_has(const struct qzi_loop_nest *nest, uint64_t address);
void qzi_loop_nest_free(struct qzi_loop_nest *nest);
/* Index + 1 of the innermost loop that has the instruction; 0: none. */
uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address);

#endif
