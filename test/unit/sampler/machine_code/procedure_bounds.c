/* Beginnings of procedures in code without symbols and unwind information: pieces of code as compilers make them. */
#include "sampler/machine_code/procedure_bounds.h"
#include "sampler/machine_code/frame_rules.h"
#include "sampler/machine_code/x86_decode.h"
#include "test/support/check.h"

#include <string.h>

#ifdef QZI_DECODES

/* Bounds in code at `low`, of a multiple of 16 bytes. */
static struct qzi_procedure_bounds *bounds_in(const unsigned char *code, size_t length, uint64_t low) {
  struct qzi_procedure_bounds *bounds = qzi_procedure_bounds_open(low, low + length);
  CHECK(bounds);
  for (uint64_t at; (at = qzi_procedure_bounds_next(bounds)) < low + length;)
    qzi_procedure_bounds_feed(bounds, code + (at - low), length - (size_t)(at - low), 1000);
  return bounds;
}

/* Separate parts of two procedures, then these, which jump to the parts and back: they begin where they do. */
static void check_separate_parts(void) {
  enum { LOW = 0x1000 };
  unsigned char code[0x70];
  memset(code, 0x90, sizeof code);
  static const unsigned char part_of_g[] = {0x85, 0xc0, 0x0f, 0x84, 0x3d, 0, 0, 0, /* je g+5 */
                                            0xe9, 0x36, 0,    0,    0};            /* jmp g+3 */
  static const unsigned char part_of_f[] = {0x31, 0xc0, 0xe9, 0x12, 0, 0, 0};      /* jmp f+9 */
  static const unsigned char f[] = {0x53, 0x85, 0xff, 0x0f, 0x85, 0xe7, 0xff, 0xff, 0xff, 0x5b, 0xc3};
  static const unsigned char g[] = {0x55, 0x31, 0xc0, 0x31, 0xc0, 0x31, 0xc0, 0x0f,
                                    0x85, 0xc3, 0xff, 0xff, 0xff, 0x5d, 0xc3};
  static const unsigned char h[] = {0x53, 0x31, 0xc0, 0x5b, 0xc3};
  memcpy(code, part_of_g, sizeof part_of_g);
  memcpy(code + 0x10, part_of_f, sizeof part_of_f);
  memcpy(code + 0x20, f, sizeof f);
  memcpy(code + 0x40, g, sizeof g);
  memcpy(code + 0x60, h, sizeof h);
  struct qzi_procedure_bounds *bounds = bounds_in(code, sizeof code, LOW);
  static const uint64_t starts[] = {0x20, 0x40, 0x60, 0x70};
  for (int k = 0; k < 3; k++) {
    uint64_t start, end;
    qzi_procedure_bounds_at(bounds, LOW + starts[k] + 2, &start, &end);
    CHECK(start == LOW + starts[k] && end == LOW + starts[k + 1]);
  }
  qzi_procedure_bounds_close(bounds);
}

/* Each separate part belongs to the procedure whose branch enters it, and has the frame of that place: `a` and `b` have
 * pushed a register there. */
static void check_entrances(void) {
  enum { LOW = 0x3000, A = 0x20, B = 0x40 };
  unsigned char code[0x50];
  memset(code, 0x90, sizeof code);
  static const unsigned char parts[] = {0x31, 0xc0, 0xe9, 0x22, 0, 0, 0,  /* jmp a+9 */
                                        0x31, 0xdb, 0xe9, 0x3b, 0, 0, 0}; /* jmp b+9 */
  static const unsigned char a[] = {0x53, 0x85, 0xff, 0x0f, 0x85, 0xd7, 0xff, 0xff, 0xff, 0x5b, 0xc3};
  static const unsigned char b[] = {0x55, 0x85, 0xff, 0x0f, 0x84, 0xbe, 0xff, 0xff, 0xff, 0x5d, 0xc3};
  static const struct { uint64_t at, start, from, whole; } expected[] = {{0x01, 0, A + 3, A}, {0x08, 7, B + 3, B}};
  memcpy(code, parts, sizeof parts);
  memcpy(code + A, a, sizeof a);
  memcpy(code + B, b, sizeof b);
  struct qzi_procedure_bounds *bounds = bounds_in(code, sizeof code, LOW);
  uint64_t start, end, from;
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    CHECK(qzi_procedure_bounds_part(bounds, LOW + expected[k].at, &start, &end, &from));
    CHECK(start == LOW + expected[k].start && end > LOW + expected[k].at && from == LOW + expected[k].from);
    struct qzi_frame_analysis *whole =
      qzi_frame_analysis_open(code + expected[k].whole, sizeof a, LOW + expected[k].whole, 1, NULL);
    CHECK(whole && qzi_frame_analysis_step(whole, 100) == 1);
    struct qzi_frame_analysis *part = qzi_frame_analysis_open(code + expected[k].start, end - start, start, 1, whole);
    CHECK(part && qzi_frame_analysis_step(part, 100) == 1);
    const struct qzi_frame_rule *rule = qzi_frame_rule_at(part, LOW + expected[k].at);
    CHECK(rule && rule->base == QZI_BASE_SP && rule->cfa_offset == 16);
    qzi_frame_analysis_close(part);
    qzi_frame_analysis_close(whole);
  }
  CHECK(!qzi_procedure_bounds_part(bounds, LOW + A + 1, &start, &end, &from));
  CHECK(!qzi_procedure_bounds_part(bounds, LOW + B + 9, &start, &end, &from));
  qzi_procedure_bounds_close(bounds);
}

/* Code that a branch leads to begins no procedure, although it looks like one. */
static void check_late_prologue(void) {
  static const unsigned char code[0x20] = {0x85, 0xff, 0x74, 0x0c, 0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90, 0x90,
                                           0x90, 0x90, 0x90, 0x90, 0x90, 0x53, 0x31, 0xc0, 0x5b, 0xc3};
  struct qzi_procedure_bounds *bounds = bounds_in(code, sizeof code, 0x2000);
  uint64_t start, end;
  qzi_procedure_bounds_at(bounds, 0x2011, &start, &end);
  CHECK(start == 0x2000);
  qzi_procedure_bounds_close(bounds);
}

/* Where the procedure begins that contains each place. */
static void begins(const unsigned char *code, size_t length, const uint64_t (*places)[2], size_t count) {
  enum { LOW = 0x4000 };
  struct qzi_procedure_bounds *bounds = bounds_in(code, length, LOW);
  for (size_t k = 0; k < count; k++) {
    uint64_t start, end;
    qzi_procedure_bounds_at(bounds, LOW + places[k][0], &start, &end);
    CHECK_IS(start, LOW + places[k][1]);
  }
  qzi_procedure_bounds_close(bounds);
}

/* Without optimization main is not aligned and no call names it: _start does. Before it stands a jump through a table,
 * behind which only what looks like a beginning can be one. */
static void check_unaligned_main(void) {
  static const unsigned char code[0x30] = {
    0x48, 0x8d, 0x3d, 0x12, 0,    0,    0,    0xf4, /* lea rdi, [0x19]; hlt */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x55, 0xff, 0x20, 0x31, 0xc0, 0x5d, 0xc3,       /* 10: push rbp; jmp [rax]; xor eax, eax; pop rbp; ret */
    0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, /* 19: push rbp; mov rbp, rsp; xor eax, eax */
    0x5d, 0xc3, 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, /* 21: pushes, too, but nothing names it */
  };
  static const uint64_t places[][2] = {{0x14, 0x10}, {0x1e, 0x19}, {0x24, 0x19}};
  begins(code, sizeof code, places, sizeof places / sizeof *places);
}

/* The same at a fixed address, which is a number in the code. */
static void check_unaligned_main_by_number(void) {
  static const unsigned char code[0x30] = {
    0xbf, 0x19, 0x40, 0,    0,    0xf4, 0x90, 0x90, /* mov edi, 0x4019; hlt */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0xff,
    0x20, 0x31, 0xc0, 0x5d, 0xc3, /* 10: push rbp; jmp [rax]; xor eax, eax; pop rbp; ret */
    0x90, 0x90, 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3,
  };
  static const uint64_t places[][2] = {{0x14, 0x10}, {0x1e, 0x19}};
  begins(code, sizeof code, places, sizeof places / sizeof *places);
}

/* clang -O0 jumps to the next instruction; what follows is the same procedure. */
static void check_jump_to_next(void) {
  static const unsigned char code[0x20] = {0x55, 0x48, 0x89, 0xe5, 0xe9, 0,    0,    0,
                                           0,    0x31, 0xc0, 0x5d, 0xc3, 0x90, 0x90, 0x90};
  static const uint64_t places[][2] = {{0x0a, 0}};
  begins(code, sizeof code, places, 1);
}

/* A jump through a register where the frame is gone is a tail call: the small aligned procedure behind it begins one.
 */
static void check_tail_call_through_register(void) {
  static const unsigned char code[0x30] = {
    0x53, 0x85, 0xff, 0x74, 0x03, 0x5b, 0xff, 0xe0, /* push rbx; test edi, edi; je 8; pop rbx; jmp rax */
    0x5b, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* 8: pop rbx; ret */
    0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, /* 10: xor eax, eax; ret */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x31, 0xc9, 0xc3, /* 20: xor ecx, ecx; ret */
  };
  static const uint64_t places[][2] = {{0x08, 0}, {0x11, 0x10}, {0x21, 0x20}};
  begins(code, sizeof code, places, sizeof places / sizeof *places);
}

/* Behind a jump through a table what is aligned may be a case of it, until a procedure begins that a call names. */
static void check_behind_table(void) {
  static const unsigned char code[0x50] = {
    0x53, 0xff, 0x20, 0x90, 0x90, 0x90, 0x90, 0x90, /* push rbx; jmp [rax] */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x31, 0xc0, 0x5b, 0xc3, 0x90, 0x90, 0x90, 0x90, /* 10: a case */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x31, 0xc0, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, /* 20: called below */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x31, 0xc9, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, /* 30: called by nobody */
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
    0x53, 0xe8, 0xda, 0xff, 0xff, 0xff, 0x5b, 0xc3, /* 40: push rbx; call 20; pop rbx; ret */
  };
  static const uint64_t places[][2] = {{0x11, 0}, {0x21, 0x20}, {0x31, 0x30}, {0x42, 0x40}};
  begins(code, sizeof code, places, sizeof places / sizeof *places);
}

int main(void) {
  check_separate_parts();
  check_entrances();
  check_late_prologue();
  check_unaligned_main();
  check_unaligned_main_by_number();
  check_jump_to_next();
  check_tail_call_through_register();
  check_behind_table();
  return 0;
}

#else
int main(void) { return 77; }
#endif
