/* Finds the loop around an instruction. See loop_body.h. */
#include "loop_body.h"

#ifdef QZI_DECODES
#include <string.h>
#include "sampler/machine_code/code_flow.h"

int qzi_loop_jumps_inside(const struct loop *loop, unsigned k, uint64_t *target) {
  *target = loop->all[k].at + loop->all[k].its.length + (uint64_t)loop->all[k].its.number;
  if (!qzi_is_jump(&loop->all[k].its) || *target <= loop->start || *target >= loop->end) return 0;
  for (unsigned j = 0; j < loop->count; j++)
    if (loop->all[j].at == *target) return loop->all[j].inside;
  return 1;
}

/* Decodes the whole loop. Returns 0 if no instruction begins at `seen`, or if the jump back does not close a loop,
 * because it can't be reached from its target. */
static int read_loop(const struct qzi_code *code, uint64_t seen, struct loop *loop) {
  uint64_t code_end = code->address + code->count;
  int passed = 0;
  loop->count = 0;
  for (uint64_t at = loop->start; at < loop->end; at += loop->all[loop->count++].its.length) {
    if (loop->count > LOOP_MOST ||
        !qzi_decode(code->bytes + (at - code->address), (size_t)(code_end - at), &loop->all[loop->count].its))
      return 0;
    loop->all[loop->count].at = at;
    loop->all[loop->count].inside = 0;
    passed |= at == seen;
  }
  /* Instructions from which the jump back can't be reached are on a way out of the loop. */
  for (int more = 1; more;) {
    more = 0;
    for (unsigned k = loop->count; k-- > 0;) {
      const struct instruction *here = &loop->all[k].its;
      uint64_t target = loop->all[k].at + here->length + (uint64_t)here->number;
      int falls =
        here->goes != QZI_GOES_BACK && !qzi_is_always_jump(here) && k + 1 < loop->count && loop->all[k + 1].inside;
      int inside = falls || (qzi_is_jump(here) && (target == loop->start || qzi_loop_jumps_inside(loop, k, &target)));
      more |= inside != loop->all[k].inside;
      loop->all[k].inside = inside;
    }
  }
  return passed && loop->all[0].inside;
}

#define PREFIXES_MOST 14u

/* How far after `seen` any bytes may be a jump back to it, or to before it; -1: nowhere. Most code is in no small loop,
 * and this takes a fifth of decoding it. Must not be less than where decoding finds a jump. */
static int64_t last_jump_back(const struct qzi_code *code, uint64_t seen) {
  size_t from = (size_t)(seen - code->address), at = from + LOOP_MOST + PREFIXES_MOST;
  if (at + 2 > code->count) at = code->count - 2;
  for (; at >= from && at < code->count; at--) {
    const unsigned char *bytes = code->bytes + at;
    int is_short = (bytes[0] & 0xf0) == 0x70 || (bytes[0] & 0xfc) == 0xe0 || bytes[0] == 0xeb;
    size_t opcode = bytes[0] == 0xe9 ? 1 : bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80 ? 2 : 0;
    int32_t by = (int8_t)bytes[1];
    if (!is_short && (!opcode || at + opcode + sizeof by > code->count)) continue;
    if (!is_short) memcpy(&by, bytes + opcode, sizeof by);
    uint64_t target = code->address + at + (is_short ? 2 : opcode + sizeof by) + (uint64_t)(int64_t)by;
    if (target <= seen && seen - target <= LOOP_MOST) return (int64_t)(at - from);
  }
  return -1;
}

int qzi_loop_find(const struct qzi_code *code, uint64_t seen, struct loop *loop) {
  if (seen < code->address || seen - code->address + 2 > code->count) return 0;
  uint64_t code_end = code->address + code->count;
  int64_t last = last_jump_back(code, seen);
  struct qzi_code_step step;
  for (uint64_t end = seen; end < code_end && (int64_t)(end - seen) <= last && end - seen <= LOOP_MOST;) {
    if (!qzi_code_step(QZI_X86_64, code->bytes + (end - code->address), (size_t)(code_end - end), &step)) return 0;
    loop->start = end + (uint64_t)step.target;
    end += step.length;
    loop->end = end;
    if (qzi_has_target(step.goes) && loop->start <= seen && seen - loop->start <= LOOP_MOST &&
        loop->start >= code->address && read_loop(code, seen, loop))
      return 1;
  }
  return 0;
}

#endif
