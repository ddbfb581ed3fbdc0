/* Short loops that only read. See store_free_loop.h. */
#include "store_free_loop.h"

#include "arm_poll_loop.h"
#include "sampler/machine_code/code_flow.h"
#include "sampler/machine_code/x86_decode.h"

#define LOOP_MOST 128 /* maximum size of a loop */

#ifdef QZI_DECODES

/* Whether the instruction writes no memory (except by an exchange), and only registers that a sample contains: general
 * registers and flags. */
static int leaves_no_trace(const struct instruction *its) {
  return (its->goes == QZI_GOES_ON || qzi_is_jump(its)) && (!its->stores || its->tries || its->fences) &&
         !(its->writes & ~(GENERAL | BIT(FLAGS)));
}

static int decode(const struct qzi_code *code, uint64_t at, struct instruction *its) {
  return qzi_decode(code->bytes + (at - code->address), (size_t)(code->address + code->count - at), its) &&
         leaves_no_trace(its);
}

uint64_t qzi_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last) {
  uint64_t end = code->address + code->count, at = first, start = 0;
  struct instruction here;
  if (first < code->address || last >= end || last - first > LOOP_MOST) return 0;
  /* Continues to a jump back that closes a loop around all of them. */
  while (at < end && at - first <= LOOP_MOST) {
    if (!decode(code, at, &here)) return 0;
    at += here.length;
    uint64_t target = at + (uint64_t)here.number;
    if (qzi_is_jump(&here) && at > last && target <= first && first - target <= LOOP_MOST) {
      start = target;
      break;
    }
    if (here.goes == QZI_GOES_TO) return 0;
  }
  if (!start || start < code->address) return 0;
  /* Decodes the whole loop, and checks that an instruction begins where it was seen. */
  int passed = 0;
  for (uint64_t its = start; its < at;) {
    passed |= its == first;
    if (!decode(code, its, &here) || (here.goes == QZI_GOES_TO && its + here.length != at)) return 0;
    its += here.length;
  }
  return passed ? start : 0;
}

#else
uint64_t qzi_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last) {
  return QZI_THIS_MACHINE == QZI_AARCH64 ? qzi_arm_store_free_loop(code, first, last) : 0;
}
#endif
