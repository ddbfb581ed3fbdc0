/* A rule for finding a procedure's caller, at one of its instructions: where the caller's stack pointer (CFA) and frame
 * pointer are. */
#ifndef QZI_FRAME_RULE_H
#define QZI_FRAME_RULE_H

#include <stdint.h>

enum qzi_frame_base {
  QZI_BASE_NONE = 0, /* the instruction was not reached, or its frame is unknown */
  QZI_BASE_SP,       /* CFA = stack pointer + cfa_offset */
  QZI_BASE_FP,       /* CFA = frame pointer + cfa_offset */
  QZI_BASE_AT_SP,    /* CFA = (value at stack pointer + slot_offset) + cfa_offset: the stack pointer was aligned */
  QZI_BASE_AT_FP
};
enum qzi_frame_fp {
  QZI_FP_LOST = 0, /* the caller's frame pointer is unknown */
  QZI_FP_SAME,     /* it is still in the register */
  QZI_FP_AT_CFA,   /* it is stored at CFA + fp_offset */
  QZI_FP_AT_BASE   /* it is stored at the base register + fp_offset */
};
struct qzi_frame_rule {
  uint32_t offset; /* from the procedure's start; the rule is valid up to the next one */
  uint8_t base, fp;
  uint8_t guessed; /* 1: no known jump leads there */
  uint8_t unused;
  int32_t cfa_offset, slot_offset, fp_offset;
  int32_t from_fp; /* CFA - frame pointer, with any base; 0: the frame pointer does not point into the frame */
};

#endif
