/* Loops of procedures made of single bytes and short jumps; and of this program's own code, that the walk ends. */
#include "sampler/machine_code/loop_nest.h"

#include <stdio.h>
#include <string.h>
#include "sampler/machine_code/x86_decode.h"

#define BASE UINT64_C(0x401000)
#define NOP  0x90
#define RET  0xc3

struct wanted {
  unsigned header, outer, entries, count; /* header: offset; outer: index + 1 */
};
static const struct example {
  const char *what;
  int sized;
  unsigned length, end; /* end: offset behind the last instruction that is the procedure's */
  unsigned char code[32];
  unsigned loops;
  struct wanted wanted[4];
  struct {
    unsigned at, loop; /* loop: index + 1 */
  } inside[4];
} examples[] = {
  {"no loop", 1, 2, 2, {NOP, RET}, 0, {{0}}, {{0, 0}, {1, 0}}},
  {"one loop", 1, 5, 5, {NOP, NOP, 0x75, 0xfd, RET}, 1, {{1, 0, 1, 1}}, {{0, 0}, {1, 1}, {2, 1}, {4, 0}}},
  {"one block", 1, 3, 3, {0x75, 0xfe, RET}, 1, {{0, 0, 1, 1}}, {{0, 1}, {2, 0}}},
  {"a nest",
   1,
   8,
   8,
   {NOP, NOP, NOP, 0x75, 0xfd, 0x75, 0xfa, RET},
   2,
   {{1, 0, 1, 1}, {2, 1, 1, 1}},
   {{1, 1}, {2, 2}, {3, 2}, {5, 1}}},
  {"two loops, one after the other",
   1,
   7,
   7,
   {NOP, 0x75, 0xfd, NOP, 0x75, 0xfd, RET},
   2,
   {{0, 0, 1, 1}, {3, 0, 1, 1}},
   {{1, 1}, {3, 2}, {6, 0}}},
  {"continue: two jumps back",
   1,
   7,
   7,
   {NOP, 0x74, 0xfd, NOP, 0x75, 0xfa, RET},
   1,
   {{0, 0, 1, 2}},
   {{0, 1}, {3, 1}, {6, 0}}},
  {"two entries",
   1,
   8,
   8,
   {0x74, 2, NOP, NOP, NOP, 0x75, 0xfb, RET},
   1,
   {{2, 0, 2, 1}},
   {{0, 0}, {2, 1}, {4, 1}, {7, 0}}},
  {"a switch in a loop", 1, 7, 7, {NOP, 0xff, 0xe0, NOP, 0xeb, 0xfa, RET}, 1, {{0, 0, 1, 1}}, {{0, 1}, {3, 1}, {6, 0}}},
  {"it ends before the next procedure", 0, 4, 2, {NOP, RET, 0x75, 0xfe}, 0, {{0}}, {{2, 0}}},
  {"a jump leads beyond a return", 0, 6, 6, {0x74, 1, RET, NOP, 0x75, 0xfd}, 1, {{3, 0, 1, 1}}, {{3, 1}, {2, 0}}},
  {"a jump out of it is no loop", 1, 3, 3, {0x75, 0xf0, RET}, 0, {{0}}, {{0, 0}}},
  {"bytes that are no instruction", 1, 3, 1, {NOP, 0x06, RET}, 0, {{0}}, {{0, 0}, {1, 0}}},
};

static int failed;
static void check(int holds, const char *what, const char *of) {
  if (holds) return;
  printf("%s: %s\n", what, of);
  failed = 1;
}

static void one(const struct example *its) {
  struct qzi_loop_nest nest;
  check(!qzi_loop_nest_of(&nest, its->code, its->length, BASE, its->sized), its->what, "no memory");
  check(nest.end == BASE + its->end, its->what, "where it ends");
  check(nest.loop_count == its->loops, its->what, "how many loops");
  for (unsigned k = 0; k < its->loops && k < nest.loop_count; k++) {
    const struct qzi_code_loop *loop = &nest.loops[k];
    check(loop->header == BASE + its->wanted[k].header, its->what, "where a loop begins");
    check(loop->outer == its->wanted[k].outer, its->what, "what a loop lies in");
    check(loop->entries == its->wanted[k].entries, its->what, "how a loop is entered");
    check(loop->count == its->wanted[k].count, its->what, "jumps back");
  }
  for (unsigned k = 0; k < sizeof its->inside / sizeof *its->inside; k++)
    check(qzi_loop_nest_at(&nest, BASE + its->inside[k].at) == its->inside[k].loop || (k && !its->inside[k].at),
          its->what, "which loop an instruction is in");
  qzi_loop_nest_free(&nest);
}

int main(void) {
#ifdef QZI_DECODES
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) one(&examples[k]);
  /* Real code, at every place as if a procedure began there, in the middle of instructions too. */
  for (size_t at = 0; at < 2000; at++) {
    struct qzi_loop_nest nest;
    const unsigned char *code = (const unsigned char *)(uintptr_t)&one + at;
    check(!qzi_loop_nest_of(&nest, code, 500, BASE, (int)(at % 2)), "own code", "no memory");
    for (uint32_t k = 0; k < nest.loop_count; k++) {
      check(nest.loops[k].outer <= nest.loop_count && nest.loops[k].outer != k + 1, "own code", "nesting");
      check(nest.loops[k].count > 0, "own code", "a loop without a jump back");
      uint32_t depth = 0;
      for (uint32_t up = k + 1; up && depth <= nest.loop_count; up = nest.loops[up - 1].outer) depth++;
      check(depth <= nest.loop_count, "own code", "a loop within itself");
    }
    qzi_loop_nest_free(&nest);
  }
#endif
  return failed;
}
