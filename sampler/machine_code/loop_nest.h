/* The loops of one procedure's machine code, and how they lie in each other.
 *
 * Owns:    nothing but the table it gives back; a function of bytes. Where nothing is decoded (x86_decode.h), there are
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

#define QZI_LOOP_SOURCES 8u

struct qzi_code_loop {
  uint64_t header;                    /* address of its first block */
  uint32_t outer;                     /* index + 1 of the innermost loop around it; 0: none */
  uint32_t entries;                   /* 1, or 2 for a loop with several entries */
  uint32_t count;                     /* jumps back to the header, of which those are kept: */
  uint64_t sources[QZI_LOOP_SOURCES]; /* their addresses, ascending */
};

struct qzi_loop_nest {
  uint64_t start, end; /* of the code that was decoded */
  struct qzi_code_loop *loops;
  uint32_t loop_count;
  struct qzi_nest_block *blocks; /* by address */
  uint32_t block_count;
};

/* Of the procedure that begins at `start`, of which `length` bytes are given. sized: that is all of it; else it ends
 * behind an instruction that goes nowhere near and that no jump before leads beyond. 0, or -1: no memory. */
int qzi_loop_nest_of(struct qzi_loop_nest *nest, const unsigned char *code, size_t length, uint64_t start, int sized);
void qzi_loop_nest_free(struct qzi_loop_nest *nest);
/* Index + 1 of the innermost loop that has the instruction; 0: none. */
uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address);

#endif
