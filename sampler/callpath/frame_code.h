/* Frames of code that has no unwind information: the rules of each procedure met, from its machine code in the
 * program's memory.
 *
 * Owns:    the analyses (frame_rules.h), by procedure, and where procedures begin in code without symbols.
 * Writer and reader: the aggregating thread.
 * Must not: hold up a snapshot: each walk may have a limited number of instructions analysed, and the next one
 * continues there. What is not known yet is reported so (QZI_FRAME_LATER).
 */
#ifndef QZI_FRAME_CODE_H
#define QZI_FRAME_CODE_H

#include "sampler/machine_code/frame_rules.h"
#include "symbols/symbols.h"

struct qzi_frame_code;

enum qzi_frame_answer { QZI_FRAME_UNKNOWN = 0, QZI_FRAME_LATER, QZI_FRAME_KNOWN };

/* A procedure, or a part of one that lies apart. */
struct qzi_code_extent {
  uint64_t start, end;
  int sized; /* 0: it may end before */
};

/* NULL: no memory. */
struct qzi_frame_code *qzi_frame_code_open(void);
void qzi_frame_code_close(struct qzi_frame_code *code);
/* A walk begins, of a stack of the process `pid`, which is always the same. */
void qzi_frame_code_begin(struct qzi_frame_code *code, uint32_t pid);

/* The procedure that has the instruction, in code from `low` to `high` that has no symbols. */
enum qzi_frame_answer qzi_frame_code_bounds(struct qzi_frame_code *code, uint64_t low, uint64_t high, uint64_t pc,
                                            struct qzi_code_extent *extent);
/* How the caller is found at the instruction; `parent`: of a part that lies apart, the procedure that it is of; else
 * NULL. */
enum qzi_frame_answer qzi_frame_code_rule(struct qzi_frame_code *code, const struct qzi_code_extent *extent,
                                          const struct qzi_code_extent *parent, uint64_t pc,
                                          struct qzi_frame_rule *rule);
/* 1: the procedure may go on into another one, which then returns in its place; 0: it can't; -1: not known. */
int qzi_frame_code_tail_calls(struct qzi_frame_code *code, const struct qzi_code_extent *extent);

#endif
