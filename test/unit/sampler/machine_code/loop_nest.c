/* Loops of procedures made of single bytes and short jumps; and that the analysis of this program's own code ends. */
#include "sampler/machine_code/loops/loop_nest.h"

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
  unsigned length, end; /* end: offset after the procedure's last instruction */
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
  {"a jump back that counts in rcx", 1, 4, 4, {NOP, 0xe2, 0xfd, RET}, 1, {{0, 0, 1, 1}}, {{0, 1}, {3, 0}}},
  {"a system call in a loop",
   1,
   7,
   7,
   {NOP, NOP, 0x0f, 0x05, 0x75, 0xfb, RET},
   1,
   {{1, 0, 1, 1}},
   {{0, 0}, {1, 1}, {4, 1}, {6, 0}}},
  {"a call in a loop",
   1,
   10,
   10,
   {NOP, 0xe8, 0, 0, 0, 0, NOP, 0x75, 0xf8, RET},
   1,
   {{1, 0, 1, 1}},
   {{0, 0}, {1, 1}, {6, 1}, {9, 0}}},
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
  struct qzi_code_piece piece = {its->code, its->length, BASE};
  check(!qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, its->sized), its->what, "no memory");
  check(nest.piece[0].end == BASE + its->end, its->what, "where it ends");
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

/* A loop that continues in a part located before the procedure, and a handler there, which is the target of no jump. */
static void parts(void) {
  static const unsigned char whole[] = {NOP, NOP, 0x75, 0xec, RET}, apart[] = {NOP, 0xeb, 0x0e, NOP, 0x75, 0xfd, RET};
  const struct qzi_code_piece pieces[] = {{whole, sizeof whole, BASE}, {apart, sizeof apart, BASE - 16}};
  struct qzi_loop_nest nest;
  uint64_t out[2];
  check(qzi_loop_nest_jumps_out(QZI_X86_64, &pieces[0], out, 2) == 1 && out[0] == BASE - 16, "parts", "jumps out");
  check(!qzi_loop_nest_of(&nest, QZI_X86_64, pieces, 2, 1), "parts", "no memory");
  check(nest.loop_count == 2, "parts", "how many loops");
  uint32_t both = qzi_loop_nest_at(&nest, BASE + 1), handler = qzi_loop_nest_at(&nest, BASE - 13);
  check(both && nest.loops[both - 1].header == BASE + 1, "parts", "where the loop begins");
  check(qzi_loop_nest_at(&nest, BASE - 16) == both && qzi_loop_nest_at(&nest, BASE + 2) == both, "parts", "its code");
  check(!qzi_loop_nest_at(&nest, BASE) && !qzi_loop_nest_at(&nest, BASE + 4), "parts", "what is not in it");
  check(handler && handler != both && !nest.loops[handler - 1].outer, "parts", "the loop of a handler");
  check(qzi_loop_nest_has(&nest, BASE - 10) && !qzi_loop_nest_has(&nest, BASE - 9), "parts", "what it has");
  qzi_loop_nest_free(&nest);
}

/* A loop that is entered after the code that it executes before each further iteration: its jump back goes to that
 * code. */
static void rotated(void) {
  static const unsigned char code[] = {0xeb, 1, NOP, NOP, 0x75, 0xfc, RET};
  const struct qzi_code_piece piece = {code, sizeof code, BASE};
  struct qzi_loop_nest nest;
  check(!qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, 1), "rotated", "no memory");
  check(nest.loop_count == 1 && nest.loops[0].header == BASE + 3, "rotated", "where the loop begins");
  check(nest.loops[0].count == 1 && nest.loops[0].sources[0] == BASE + 4, "rotated", "jumps back");
  check(qzi_loop_nest_at(&nest, BASE + 2) == 1 && !qzi_loop_nest_at(&nest, BASE), "rotated", "its code");
  qzi_loop_nest_free(&nest);
}

/* A loop that is tested at its top and jumps back without a condition, in one that is tested at its end and left from
 * its middle, too. */
static void tested_at_its_top(void) {
  static const unsigned char code[] = {NOP, NOP, 0x75, 3, NOP, 0xeb, 0xfa, NOP, 0x75, 3, NOP, 0x75, 0xf3, RET};
  const struct qzi_code_piece piece = {code, sizeof code, BASE};
  struct qzi_loop_nest nest;
  check(!qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, 1), "tests", "no memory");
  check(nest.loop_count == 2, "tests", "how many loops");
  const struct qzi_code_loop *outer = &nest.loops[0], *inner = &nest.loops[1];
  check(outer->header == BASE && inner->header == BASE + 1 && inner->outer == 1, "tests", "where the loops begin");
  check(inner->test == BASE + 2 && !inner->conditional && inner->count == 1, "tests", "the test at the top");
  check(inner->exit_count == 1 && inner->exits[0] == BASE + 2, "tests", "the only way out");
  check(!outer->test && outer->conditional == 1, "tests", "the test at the end");
  check(outer->exit_count == 2 && outer->exits[0] == BASE + 8 && outer->exits[1] == BASE + 11, "tests",
        "both ways out");
  qzi_loop_nest_free(&nest);
}

/* aarch64, on whatever machine this runs: a nest, and a loop with two jumps back after a jump through a register. */
static void other_machine(void) {
  static const uint32_t words[] = {
    0xd2800000, /* 00  mov x0, #0 */
    0xd2800001, /* 04  mov x1, #0 */
    0x36180042, /* 08  tbz w2, #3, 10 */
    0x94000000, /* 0c  bl */
    0x91000421, /* 10  add x1, x1, #1 */
    0xf100283f, /* 14  cmp x1, #10 */
    0x54ffff81, /* 18  b.ne 08 */
    0xd1000400, /* 1c  sub x0, x0, #1 */
    0xb5ffff20, /* 20  cbnz x0, 04 */
    0xd61f00a0, /* 24  br x5 */
    0xd503201f, /* 28  nop */
    0xb747ffe2, /* 2c  tbnz x2, #40, 28 */
    0x34000063, /* 30  cbz w3, 3c */
    0xd63f0080, /* 34  blr x4 */
    0x17fffffc, /* 38  b 28 */
    0xd65f03c0, /* 3c  ret */
    0xd4200020, /* 40  brk #1 */
  };
  static const struct wanted wanted[] = {{0x04, 0, 1, 1}, {0x08, 1, 1, 1}, {0x28, 0, 1, 2}};
  static const enum qzi_goes goes[] = {QZI_GOES_ON,   QZI_GOES_ON,  QZI_GOES_IF, QZI_GOES_CALL, QZI_GOES_ON,
                                       QZI_GOES_ON,   QZI_GOES_IF,  QZI_GOES_ON, QZI_GOES_IF,   QZI_GOES_ANYWHERE,
                                       QZI_GOES_ON,   QZI_GOES_IF,  QZI_GOES_IF, QZI_GOES_CALL, QZI_GOES_TO,
                                       QZI_GOES_BACK, QZI_GOES_AWAY};
  unsigned char code[sizeof words];
  struct qzi_code_step step;
  for (size_t k = 0; k < sizeof words; k++) code[k] = (unsigned char)(words[k / 4] >> k % 4 * 8);
  for (size_t k = 0; k < sizeof goes / sizeof *goes; k++)
    check(qzi_code_step(QZI_AARCH64, code + 4 * k, 4, &step) && step.length == 4 && step.goes == goes[k], "aarch64",
          "where an instruction goes");
  check(!qzi_code_step(QZI_AARCH64, code, 3, &step), "aarch64", "a part of an instruction");
  struct qzi_code_piece piece = {code, sizeof code, BASE};
  struct qzi_loop_nest nest;
  check(!qzi_loop_nest_of(&nest, QZI_AARCH64, &piece, 1, 1), "aarch64", "no memory");
  check(nest.loop_count == 3, "aarch64", "how many loops");
  for (unsigned k = 0; k < 3 && k < nest.loop_count; k++)
    check(nest.loops[k].header == BASE + wanted[k].header && nest.loops[k].outer == wanted[k].outer &&
            nest.loops[k].count == wanted[k].count,
          "aarch64", "a loop");
  check(qzi_loop_nest_at(&nest, BASE + 0x10) == 2 && qzi_loop_nest_at(&nest, BASE + 0x1c) == 1, "aarch64", "inside");
  check(!qzi_loop_nest_at(&nest, BASE) && !qzi_loop_nest_at(&nest, BASE + 0x3c), "aarch64", "outside");
  qzi_loop_nest_free(&nest);
}

/* The loops of a procedure of aarch64 whose code is in the file: for each, "offset of the first block, index + 1 of the
 * enclosing loop". */
#ifdef QZI_DECODES
#define DEEP 40u
/* Loops one in another: a jump out of the innermost is an exit of all of them, that at the end of each is its own. */
static void deep(void) {
  unsigned char code[3 * DEEP + 3];
  memset(code, NOP, DEEP);
  code[DEEP] = 0x74;
  code[DEEP + 1] = 2 * DEEP;
  for (unsigned k = 0; k < DEEP; k++) {
    code[DEEP + 2 + 2 * k] = 0x75;
    code[DEEP + 3 + 2 * k] = (unsigned char)(0x100 - 5 - 3 * k);
  }
  code[3 * DEEP + 2] = RET;
  struct qzi_code_piece piece = {code, sizeof code, BASE};
  struct qzi_loop_nest nest;
  check(!qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, 1), "deep", "no memory");
  check(nest.loop_count == DEEP, "deep", "loops");
  for (uint32_t k = 0; k < nest.loop_count; k++) {
    const struct qzi_code_loop *loop = &nest.loops[k];
    check(loop->header == BASE + k && loop->outer == k && loop->count == 1, "deep", "a loop");
    check(loop->sources[0] == BASE + 3 * DEEP - 2 * k, "deep", "its jump back");
    check(loop->exit_count == 2 && loop->exits[0] == BASE + DEEP && loop->exits[1] == loop->sources[0], "deep",
          "exits");
  }
  qzi_loop_nest_free(&nest);
}
#endif

static int print_loops(const char *file) {
  static unsigned char code[65536];
  FILE *from = fopen(file, "rb");
  if (!from) return 2;
  struct qzi_code_piece piece = {code, fread(code, 1, sizeof code, from), BASE};
  struct qzi_loop_nest nest;
  fclose(from);
  if (qzi_loop_nest_of(&nest, QZI_AARCH64, &piece, 1, 1)) return 2;
  for (uint32_t k = 0; k < nest.loop_count; k++)
    printf("%u %u\n", (unsigned)(nest.loops[k].header - BASE), nest.loops[k].outer);
  qzi_loop_nest_free(&nest);
  return 0;
}

int main(int count, char **arguments) {
  if (count > 2 && !strcmp(arguments[1], "aarch64")) return print_loops(arguments[2]);
  other_machine();
#ifdef QZI_DECODES
  parts();
  rotated();
  tested_at_its_top();
  deep();
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) one(&examples[k]);
  /* Real code, as if a procedure began at every byte, in the middle of instructions, too. */
  for (size_t at = 0; at < 2000; at++) {
    struct qzi_loop_nest nest;
    const unsigned char *code = (const unsigned char *)(uintptr_t)&one + at;
    struct qzi_code_piece piece = {code, 500, BASE};
    check(!qzi_loop_nest_of(&nest, QZI_X86_64, &piece, 1, (int)(at % 2)), "own code", "no memory");
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
