/* Procedures that a loop calls: what is known about each. */
#ifndef QZI_CALLEES_H
#define QZI_CALLEES_H

#include "seen_code.h"

#define QZI_CALLEE_BYTES 256u
enum qzi_callee {
  QZI_CALLEE_UNKNOWN = 0,
  QZI_CALLEE_CODE,  /* `code` is the beginning of its code */
  QZI_CALLEE_CLOCK, /* it reads a clock */
  QZI_CALLEE_YIELD, /* it yields the CPU, or maintains the profile stack */
  QZI_CALLEE_HOOK   /* the same, and it preserves all registers */
};
/* Classifies a procedure that a loop calls: the one called by the call that returns to `back`; if that is 0, the one at
 * `target`. `bytes` has room for QZI_CALLEE_BYTES of its code. */
struct qzi_callees {
  void *context;
  enum qzi_callee (*look)(void *context, uint64_t target, uint64_t back, struct qzi_code *code, unsigned char *bytes);
};

#endif
