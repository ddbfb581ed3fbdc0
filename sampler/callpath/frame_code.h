/* Frames of code that has no unwind information: rules for finding callers, derived from the machine code of each
 * procedure in the program's memory.
 *
 * Owns:    the analyses (frame_rules.h), by procedure, and where procedures begin in code without symbols.
 * Writer and reader: the aggregating thread.
 * Must not: delay a snapshot: each walk analyses a limited number of instructions, and the next walk continues from
 * there. Until an analysis is complete, its answer is QZI_FRAME_LATER.
 */
#ifndef QZI_FRAME_CODE_H
#define QZI_FRAME_CODE_H

#include "sampler/machine_code/frame_rules.h"
#include "symbols/symbols.h"

struct qzi_frame_code;

enum qzi_frame_answer { QZI_FRAME_UNKNOWN = 0, QZI_FRAME_LATER, QZI_FRAME_KNOWN };

/* A procedure, or a separate part of one. */
struct qzi_code_extent {
  uint64_t start, end;
  int sized; /* 0: `end` is only an upper bound */
};

/* Returns NULL if there is no memory. */
struct qzi_frame_code *qzi_frame_code_open(void);
void qzi_frame_code_close(struct qzi_frame_code *code);
/* To be called before each walk of a stack of the process `pid`; a qzi_frame_code is used for one process only. */
void qzi_frame_code_begin(struct qzi_frame_code *code, uint32_t pid);

/* Finds the procedure, or separate part of one, that contains the instruction `pc`, in code from `low` to `high` that
 * has no symbols. *parent: the procedure to which a separate part belongs; end 0: none. */
enum qzi_frame_answer qzi_frame_code_bounds(struct qzi_frame_code *code, uint64_t low, uint64_t high, uint64_t pc,
                                            struct qzi_code_extent *extent, struct qzi_code_extent *parent);
/* Finds the rule by which the caller is found at the instruction. `parent`: if the extent is a separate part, the
 * procedure to which it belongs; else NULL. */
enum qzi_frame_answer qzi_frame_code_rule(struct qzi_frame_code *code, const struct qzi_code_extent *extent,
                                          const struct qzi_code_extent *parent, uint64_t pc,
                                          struct qzi_frame_rule *rule);
/* 1: the procedure may end with a jump to another one (tail call), which then returns to the caller; 0: it can't; -1:
 * unknown. */
int qzi_frame_code_tail_calls(struct qzi_frame_code *code, const struct qzi_code_extent *extent);

#endif
